package socket

// newTimer turns p into what it is on a kernel without epoll_pwait2.
var newTimer = func(p *Poller) (err error) { return p.useTimer() }
