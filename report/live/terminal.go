package live

import (
	"io"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2" // redraws only what changed: 10 KB in 3 s at 10 Hz
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term" // whether a writer is a terminal
)

// refresh is the time between two looks at the state.
const refresh = 100 * time.Millisecond

// New returns a view on w: one that redraws itself when w is a terminal, plain
// lines when it is not. Progress belongs on standard error, results on standard
// output.
func New(w io.Writer, o Options) View {
	file, ok := w.(term.File)
	if !ok || !term.IsTerminal(file.Fd()) {
		return Plain(w)
	}
	if width, _, err := term.GetSize(file.Fd()); err != nil || width == 0 {
		return Plain(w) // a terminal that knows no size, as under script(1), shows no view
	}
	return start(w, o)
}

// terminal is the view that redraws itself.
type terminal struct {
	state   *state
	closing chan struct{} // closed by Close
	done    chan struct{} // closed when the program has ended
	once    sync.Once
}

func start(w io.Writer, o Options, more ...tea.ProgramOption) *terminal {
	profile := colorprofile.ASCII
	if o.Color {
		profile = colorprofile.ANSI
	}
	t := &terminal{state: &state{}, closing: make(chan struct{}), done: make(chan struct{})}
	options := append([]tea.ProgramOption{
		tea.WithOutput(w),
		tea.WithInput(nil),
		tea.WithoutSignalHandler(), // signals belong to the caller's context
		tea.WithColorProfile(profile),
		tea.WithEnvironment(quiet),
		tea.WithFPS(20),
	}, more...)
	program := tea.NewProgram(model{state: t.state, closing: t.closing, title: o.Title, width: 80}.redraw(), options...)
	go func() {
		defer close(t.done)
		// An error means that the terminal went away; the run goes on without
		// a view.
		last, err := program.Run()
		if m, ok := last.(model); ok && err == nil {
			_, _ = io.WriteString(w, m.erase())
		}
	}()
	return t
}

// quiet is the environment that Bubble Tea receives. On a local terminal it
// asks for synchronised output and reads the answer; without input the answer
// would stay unread and show up in the user's shell after the run. An SSH
// session is not asked.
var quiet = []string{"TERM=xterm-256color", "SSH_TTY=none"}

func (t *terminal) Event(e Event) { t.state.add(e) }

func (t *terminal) Close() {
	t.once.Do(func() { close(t.closing) })
	<-t.done
}

// model is Bubble Tea's: it looks at the state on every tick.
type model struct {
	state   *state
	closing <-chan struct{}
	title   string
	width   int
	height  int // of the terminal; 0 while unknown
	last    Event
	rates   []float64
	frame   string
	lines   int // of the tallest frame so far
}

// tick says that it is time to look at the state; closing, for the last time.
type tick struct{ closing bool }

// nextTick waits for the next look. The end comes as a tick too: each tick follows
// the messages of the one before, so that none of them is cut off by the end.
func (m model) nextTick() tea.Msg {
	wait := time.NewTimer(refresh)
	defer wait.Stop()
	select {
	case <-wait.C:
		return tick{}
	case <-m.closing:
		return tick{closing: true}
	}
}

func (m model) Init() tea.Cmd { return m.nextTick }

func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		if msg.Width > 0 {
			m.width, m.height = msg.Width, msg.Height
		}
		return m.redraw(), nil
	case tick:
		if msg.closing {
			return m.read(tea.Quit)
		}
		return m.read(m.nextTick)
	}
	return m, nil
}

// read takes over the state, prints the messages that wait above the view, and
// goes on with next.
func (m model) read(next tea.Cmd) (tea.Model, tea.Cmd) {
	last, rates, messages := m.state.snapshot()
	m.last, m.rates = last, rates
	m = m.redraw()
	cmds := make([]tea.Cmd, 0, len(messages)+1)
	for _, text := range messages {
		cmds = append(cmds, tea.Println(text))
	}
	return m, tea.Sequence(append(cmds, next)...)
}

// View pads the frame to the tallest that was shown: when a frame becomes
// shorter, the renderer (ultraviolet, as of 2026-08) loses track of the row its
// cursor is in.
func (m model) View() tea.View {
	return tea.NewView(m.frame + strings.Repeat("\n", m.lines-1-strings.Count(m.frame, "\n")))
}

// redraw brings the frame up to date.
func (m model) redraw() model {
	m.frame = draw(m.title, m.last, m.rates, m.width-1)
	m.lines = max(m.lines, 1+strings.Count(m.frame, "\n"))
	return m
}

// erase returns the sequence that clears the last frame, whose last row the cursor is in
// after the program has ended: the summary that follows says it all again.
func (m model) erase() string {
	rows := m.lines
	if m.height > 0 {
		rows = min(rows, m.height)
	}
	up := ""
	if rows > 1 {
		up = ansi.CursorUp(rows - 1)
	}
	return "\r" + up + ansi.EraseScreenBelow
}
