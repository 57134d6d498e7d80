// Package forecast answers when a figure of a service, such as its requests per second,
// reaches a limit, such as its knee.
//
// A history comes as points: from a CSV file (ReadCSV), from Prometheus (Query), or from
// whoever has them. Regular brings them to a regular grid, without duplicates and with
// gaps as gaps. Answer finds the seasons of the grid, forecasts by stat/forecast, and says
// when the limit is first reached, with the interval; Text, Markdown and JSON write that.
//
// What comes from outside is bounded: a file by its size and points, an answer of
// Prometheus by its bytes. A history from which nothing can be said is an error that wraps
// forecast.ErrShort of stat/forecast, and no answer.
//
// Times are UTC: a season of a day begins at midnight UTC, and dates are those of UTC.
package forecast
