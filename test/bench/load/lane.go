package load

const (
	// maxRequest is the size at which a request is sent. Receivers refuse more than
	// 4 MiB by default.
	maxRequest = 3_000_000
	// maxSpans is the batch size of the SDKs.
	maxSpans = 512
)

// Load is a number of runs.
type Load struct {
	Name string
	// Runs is how many there are, Open how many of them are open at once.
	Runs, Open int

	start func(run int) run
}

// run writes itself step by step. Each step is the part of a request that one
// exporter fills.
type run interface {
	step(dst []byte) (_ []byte, spans int, done bool)
}

// Request is an ExportTraceServiceRequest.
type Request struct {
	Body  []byte
	Spans int
}

// Lane is a share of a load whose requests are to be sent one after the other. It
// is for one goroutine.
type Lane struct {
	load Load
	// next is the run that is opened next; every so many-th is of this lane.
	next, stride int
	open         []run
	turn         int
	buf          []byte
	// The first sent bytes of buf were the last request. What follows did not fit,
	// and is carried into the next.
	sent, carried int
}

// Lane is the share number i of n.
func (l Load) Lane(i, n int) *Lane {
	lane := &Lane{load: l, next: i, stride: n}
	for range (l.Open + n - 1) / n {
		lane.openNext()
	}
	return lane
}

func (l *Lane) openNext() bool {
	if l.next >= l.load.Runs {
		return false
	}
	l.open = append(l.open, l.load.start(l.next))
	l.next += l.stride
	return true
}

// Next makes the next request. Its body is valid until the next call.
func (l *Lane) Next() (Request, bool) {
	l.buf = append(l.buf[:0], l.buf[l.sent:]...)
	spans := l.carried
	l.carried, l.sent = 0, 0
	for len(l.open) > 0 && spans < maxSpans {
		start := len(l.buf)
		l.turn %= len(l.open)
		var n int
		var done bool
		l.buf, n, done = l.open[l.turn].step(l.buf)
		if done {
			l.finish()
		} else {
			l.turn++
		}
		if len(l.buf) > maxRequest && start > 0 {
			l.sent, l.carried = start, n
			return Request{Body: l.buf[:start], Spans: spans}, true
		}
		spans += n
	}
	l.sent = len(l.buf)
	return Request{Body: l.buf, Spans: spans}, spans > 0
}

// finish replaces the run that is done by the next one, in its place.
func (l *Lane) finish() {
	if l.openNext() {
		last := len(l.open) - 1
		l.open[l.turn] = l.open[last]
		l.open = l.open[:last]
		l.turn++
		return
	}
	l.open = append(l.open[:l.turn], l.open[l.turn+1:]...)
}
