package live

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2" // redraws only what changed: 10 KB in 3 s at 10 Hz
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term" // whether a writer is a terminal
)

// refresh is the time between two looks at the state: four frames a second.
const refresh = 250 * time.Millisecond

// New returns a view on w: one that redraws itself when w is a terminal, plain
// lines when it is not. Progress belongs on standard error, results on standard
// output.
func New(w io.Writer, o Options) View {
	file, ok := w.(term.File)
	if ok && term.IsTerminal(file.Fd()) {
		// A terminal that knows no size, as under script(1), shows no view.
		if width, _, err := term.GetSize(file.Fd()); err == nil && width > 0 {
			return start(w, o)
		}
	}
	if o.Left != nil {
		o.Left()
	}
	return Plain(w)
}

// terminal is the view that redraws itself.
type terminal struct {
	state   *state
	options Options
	closing chan struct{} // closed by Close
	done    chan struct{} // closed when the program has ended
	once    sync.Once
	after   *plain // shows the run once somebody left the view
	program *tea.Program
}

func start(w io.Writer, o Options, more ...tea.ProgramOption) *terminal {
	profile := colorprofile.ASCII
	if o.Color {
		profile = colorprofile.ANSI
	}
	t := &terminal{state: &state{}, options: o, closing: make(chan struct{}), done: make(chan struct{}), after: afterwards(w)}
	options := append([]tea.ProgramOption{
		tea.WithOutput(w),
		tea.WithInput(nil),
		tea.WithoutSignalHandler(), // signals belong to the caller's context
		tea.WithColorProfile(profile),
		tea.WithEnvironment(quiet),
		tea.WithFPS(int(time.Second / refresh)),
	}, more...)
	program := tea.NewProgram(model{state: t.state, closing: t.closing, stop: o.Stop, width: 80,
		shown: frame{title: o.Title, keys: o.Keys != nil, stop: o.Stop != nil}}.redraw(), options...)
	t.program = program
	if o.Keys != nil {
		go t.press(program)
	}
	go func() {
		defer close(t.done)
		// An error means that the terminal went away; the run continues without
		// a view.
		last, err := program.Run()
		m, ok := last.(model)
		if ok && err == nil {
			_, _ = io.WriteString(w, m.erase())
		}
		if o.Left != nil {
			o.Left()
		}
		select {
		case <-t.closing: // the last frame has shown all
			t.state.leave(m.shown.last, func(Event) {})
		default:
			t.after.begin(m.shown.last)
			t.state.leave(m.shown.last, t.after.Event)
		}
	}()
	return t
}

// press hands keys to the program, until it ends.
func (t *terminal) press(program *tea.Program) {
	for {
		select {
		case key, ok := <-t.options.Keys:
			if !ok {
				return
			}
			program.Send(pressed(key))
		case <-t.done:
			return
		}
	}
}

// quiet is the environment that Bubble Tea receives. On a local terminal it
// asks for synchronised output and reads the answer; without input the answer
// would stay unread and show up in the user's shell after the run. An SSH
// session is not asked.
var quiet = []string{"TERM=xterm-256color", "SSH_TTY=none"}

func (t *terminal) Event(e Event) {
	if !t.state.add(e) {
		t.after.Event(e)
	}
}

func (t *terminal) Feed() Feed { return t.state }

func (t *terminal) Close() {
	t.once.Do(func() { close(t.closing) })
	<-t.done
	t.after.Close()
}

// model is Bubble Tea's: it looks at the state on every tick.
type model struct {
	state   *state
	closing <-chan struct{}
	stop    func()
	shown   frame
	width   int
	height  int // of the terminal; 0 while unknown
	frame   string
	lines   int // of the tallest frame so far
}

// tick says that it is time to look at the state; closing, for the last time.
type tick struct{ closing bool }

// pressed is a key.
type pressed byte

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
			m.lines = min(m.lines, max(m.height-1, 1))
		}
		return m.redraw(), nil
	case pressed:
		return m.press(msg)
	case tick:
		if msg.closing {
			return m.read(tea.Quit)
		}
		return m.read(m.nextTick)
	}
	return m, nil
}

// press does what a key asks for.
func (m model) press(key pressed) (tea.Model, tea.Cmd) {
	switch key {
	case 'p', ' ':
		m.shown.paused = !m.shown.paused
	case '?', 'h':
		m.shown.help = !m.shown.help
	case 's':
		if m.stop != nil {
			m.shown.paused = false
			m.stop()
		}
	case 'q':
		return m.read(tea.Quit)
	default:
		m.shown.help = false // any other key leads back
	}
	return m.redraw(), nil
}

// read takes over the state, prints the messages that wait above the view, and
// goes on with next. A paused view keeps its figures.
func (m model) read(next tea.Cmd) (tea.Model, tea.Cmd) {
	now, messages := m.state.snapshot()
	if m.shown.paused {
		now = snapshot{last: m.shown.last, load: m.shown.load, service: m.shown.service, latency: m.shown.latency,
			statements: m.shown.statements, soFar: m.shown.soFar}
	}
	m.shown.snapshot = now
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
	return tea.NewView(m.frame + strings.Repeat("\n", max(m.lines-1-strings.Count(m.frame, "\n"), 0)))
}

// redraw brings the frame up to date. A line and a column stay free: what fills the last would
// scroll.
func (m model) redraw() model {
	m.shown.width, m.shown.height = m.width-1, max(m.height-1, 0)
	m.frame = draw(m.shown)
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

// afterwards returns the view that goes on where somebody left the one on w.
func afterwards(w io.Writer) *plain {
	return &plain{w: w, second: -1, quiet: true}
}

// begin says that the run continues.
func (p *plain) begin(last Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.phase = last.Phase
	text := "the run continues; Ctrl-C stops it"
	if left := last.Total - last.Done; last.Done > 0 && left > 0 {
		text = fmt.Sprintf("the run continues for %.0f s; Ctrl-C stops it", left.Seconds())
	}
	fmt.Fprintln(p.w, text)
}
