package store

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

const usersPath = "/users/"

type Client struct {
	http    *http.Client
	baseURL string
	health  string
}

func (c *Client) send(r *http.Request) (*http.Response, error) {
	r.Header.Set("Accept", "application/json")
	return c.http.Do(r) // request: given
}

func (c *Client) do(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.baseURL+path, body)
	if err != nil {
		return nil, err
	}
	req = req.WithContext(ctx)
	return c.http.Do(req) // request: given
}

func (c *Client) get(path string) (*http.Response, error) {
	return http.Get(fmt.Sprintf("%s/%s", c.baseURL, path)) // request: given
}

func (c *Client) announce(order string) (*http.Response, error) {
	return c.http.Post(c.baseURL+"/announce", "text/plain", strings.NewReader(order))
}

func (c *Client) today(city string) (*http.Response, error) {
	return c.rest.R().SetQueryParam("city", city).Get("/today")
}

func (c *Client) all(loads []func(string) (*http.Response, error), vendor string) (err error) {
	for _, load := range loads {
		_, err = load(vendor)
	}
	return err
}

func (c *Client) query(path string, q url.Values) (*http.Response, error) {
	return http.Get("http://" + c.baseURL + path + "?" + q.Encode()) // request: given
}

func (c *Client) fetch(u *url.URL) (*http.Response, error) {
	return c.http.Get(u.String()) // request: given
}

func (c *Client) post(path string, body io.Reader) (*http.Response, error) {
	return c.http.Post(c.baseURL+path, "application/json", body) // request: given
}

func (c *Client) User(ctx context.Context, id string) (*http.Response, error) {
	return c.do(ctx, http.MethodGet, "/users/"+id, nil) // request: own
}

func (c *Client) Named(ctx context.Context, id string) (*http.Response, error) {
	return c.do(ctx, "GET", usersPath+id, nil) // request: own
}

func (c *Client) Formatted(id string) (*http.Response, error) {
	return http.Get(fmt.Sprintf("%s/users/%s", c.baseURL, id)) // request: own
}

func (c *Client) Health() (*http.Response, error) {
	return http.Get(c.health) // request: own
}

func (c *Client) Built(id string) (*http.Response, error) {
	req, err := http.NewRequest(http.MethodGet, c.baseURL+"/orders?user="+id, nil)
	if err != nil {
		return nil, err
	}
	return c.http.Do(req) // request: own
}

func (c *Client) Search(q string) (*http.Response, error) {
	req, err := http.NewRequest("GET", "https://search.example/find", nil)
	if err != nil {
		return nil, err
	}
	req.URL.RawQuery = url.Values{"q": {q}}.Encode()
	return c.http.Do(req) // request: own
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.reverse.ServeHTTP(w, r) // request: own
}

func (p *Proxy) to(w http.ResponseWriter, r *http.Request, address *url.URL) {
	p.reverseTo(address).ServeHTTP(w, r) // request: given
}

func (p *Proxy) RoundTrip(r *http.Request) (*http.Response, error) {
	return p.next.RoundTrip(r) // request: given
}

func (c *Client) retried(req *http.Request) (resp *http.Response, err error) {
	for i := 0; i < c.most; i++ {
		if i > 0 {
			time.Sleep(c.pause)
		}
		if resp, err = c.http.Do(req); err == nil { // request: given
			break
		}
	}
	return resp, err
}

func (c *Client) rebuilt(ctx context.Context, path string, body []byte) (resp *http.Response, err error) {
	for {
		ctx, cancel := context.WithTimeout(ctx, c.patience)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, "PUT", c.baseURL+path, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		resp, err = c.http.Do(req) // request: given
		if err == nil || !c.again(err) {
			return resp, err
		}
	}
}

func (c *Client) pages(url string) (all []*http.Response) {
	for url != "" {
		resp, err := http.Get(url) // request: own
		if err != nil {
			return all
		}
		all, url = append(all, resp), resp.Header.Get("Link")
	}
	return all
}

func (c *Client) followed(req *http.Request) {
	for {
		resp, err := c.http.Do(req) // request: own
		if err != nil {
			return
		}
		req = next(req, resp)
	}
}

func (c *Client) queued(jobs chan *http.Request) {
	for {
		job := <-jobs
		c.http.Do(job) // request: own
	}
}

func (c *Client) popped(jobs *queue) {
	for {
		job := jobs.Pop()
		c.http.Do(job) // request: own
	}
}

func (c *Client) scanned(path string, rows *sql.Rows) {
	for rows.Next() {
		var id string
		rows.Scan(&id)
		http.Get(path + id) // request: own
	}
}

func (c *Client) each(path string, names []string) {
	for _, name := range names {
		http.Get(path + name) // request: own
	}
}

func (c *Client) everyone(loads []func(string) (*http.Response, error), vendor string) {
	for _, load := range loads {
		load(vendor) // request: own
	}
}
