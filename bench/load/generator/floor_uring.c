//go:build ignore

// The floor of an HTTP/1.1 load generator on io_uring: what floor.c does, with
// one system call for all requests that are due and all answers that are there.
// Answers arrive by one standing receive per connection into buffers that the
// kernel chooses from, as in io_uring_prep_recv_multishot(3).
//
//   floor_uring HOST PORT CONNECTIONS SECONDS [ANSWERS]   ->   as floor.c
//
// It sleeps until ANSWERS are there, by default one. More than one saves
// wake-ups, but sends late and sees answers late: no generator may do so that
// states latencies. It shows what wake-ups cost.

#include "floor.h"
#include <linux/io_uring.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { ENTRIES = 1024, BUFFERS = 1024, SIZE = 4096, SENT = 1 << 30 };

static struct io_uring_sqe *entries;
static unsigned tail, mask, pending;

static struct io_uring_sqe *entry(int opcode, int connection) {
	struct io_uring_sqe *e = &entries[tail++ & mask];
	memset(e, 0, sizeof *e);
	e->opcode = opcode;
	e->fd = connection; // an index into the registered files
	e->flags = IOSQE_FIXED_FILE;
	e->user_data = connection;
	pending++;
	return e;
}

static void receive(int connection) {
	struct io_uring_sqe *e = entry(IORING_OP_RECV, connection);
	e->flags |= IOSQE_BUFFER_SELECT;
	e->ioprio = IORING_RECV_MULTISHOT;
}

static void transmit(int connection, const char *request, int size) {
	struct io_uring_sqe *e = entry(IORING_OP_SEND, connection);
	e->flags |= IOSQE_CQE_SKIP_SUCCESS;
	e->addr = (uintptr_t)request;
	e->len = size;
	e->msg_flags = MSG_NOSIGNAL;
	e->user_data |= SENT;
}

int main(int argc, char **argv) {
	if (argc < 5 || argc > 6) {
		fprintf(stderr, "usage: floor_uring HOST PORT CONNECTIONS SECONDS [ANSWERS]\n");
		return 2;
	}
	int connections = atoi(argv[3]), answers = argc > 5 ? atoi(argv[5]) : 1;
	long long length = (long long)(atof(argv[4]) * 1e9);
	must(connections <= ENTRIES / 2, "connections");
	char request[256];
	int size = snprintf(request, sizeof request, "GET / HTTP/1.1\r\nHost: %s:%s\r\n\r\n", argv[1], argv[2]);

	struct io_uring_params p = {
		.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE,
		.cq_entries = 4 * ENTRIES,
	};
	int ring = syscall(SYS_io_uring_setup, ENTRIES, &p);
	must(ring >= 0, "io_uring_setup");
	size_t submission = p.sq_off.array + p.sq_entries * sizeof(unsigned);
	size_t completion = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
	char *rings = mmap(0, submission > completion ? submission : completion, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQ_RING);
	entries = mmap(0, p.sq_entries * sizeof *entries, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQES);
	must(rings != MAP_FAILED && entries != MAP_FAILED, "mmap");
	unsigned *sq_tail = (unsigned *)(rings + p.sq_off.tail), *sq_array = (unsigned *)(rings + p.sq_off.array);
	unsigned *cq_head = (unsigned *)(rings + p.cq_off.head), *cq_tail = (unsigned *)(rings + p.cq_off.tail);
	unsigned cq_mask = *(unsigned *)(rings + p.cq_off.ring_mask);
	struct io_uring_cqe *completions = (struct io_uring_cqe *)(rings + p.cq_off.cqes);
	mask = *(unsigned *)(rings + p.sq_off.ring_mask);
	for (unsigned i = 0; i < p.sq_entries; i++)
		sq_array[i] = i;

	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[2]))};
	must(inet_pton(AF_INET, argv[1], &to.sin_addr) == 1, "host");
	int *files = calloc(connections, sizeof *files), one = 1;
	for (int i = 0; i < connections; i++) {
		files[i] = socket(AF_INET, SOCK_STREAM, 0);
		must(files[i] >= 0 && connect(files[i], (struct sockaddr *)&to, sizeof to) == 0, "connect");
		setsockopt(files[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	}
	must(syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, files, connections) == 0, "register files");

	struct io_uring_buf_ring *free_ring;
	char *buffers = malloc((size_t)BUFFERS * SIZE);
	must(posix_memalign((void **)&free_ring, 4096, BUFFERS * sizeof(struct io_uring_buf)) == 0, "buffers");
	struct io_uring_buf_reg registered = {.ring_addr = (uintptr_t)free_ring, .ring_entries = BUFFERS};
	must(syscall(SYS_io_uring_register, ring, IORING_REGISTER_PBUF_RING, &registered, 1) == 0, "register buffers");
	unsigned freed = 0;
#define FREE(id)                                                                                                       \
	do {                                                                                                           \
		struct io_uring_buf *b = &free_ring->bufs[freed++ & (BUFFERS - 1)];                                    \
		b->addr = (uintptr_t)(buffers + (size_t)(id) * SIZE), b->len = SIZE, b->bid = (id);                    \
	} while (0)
	for (int i = 0; i < BUFFERS; i++)
		FREE(i);
	__atomic_store_n(&free_ring->tail, freed, __ATOMIC_RELEASE);

	for (int i = 0; i < connections; i++) {
		transmit(i, request, size);
		receive(i);
	}
	long long requests = 0, errors = 0, start = now(), end = start + length;
	while (now() < end && errors < connections) {
		__atomic_store_n(sq_tail, tail, __ATOMIC_RELEASE);
		int n = syscall(SYS_io_uring_enter, ring, pending, answers, IORING_ENTER_GETEVENTS, 0, 0);
		must(n >= 0, "io_uring_enter");
		pending -= n;
		unsigned head = *cq_head, last = __atomic_load_n(cq_tail, __ATOMIC_ACQUIRE);
		for (; head != last; head++) {
			struct io_uring_cqe *c = &completions[head & cq_mask];
			int connection = c->user_data & (SENT - 1);
			if (c->user_data & SENT || c->res <= 0) {
				errors++;
				continue;
			}
			FREE(c->flags >> IORING_CQE_BUFFER_SHIFT);
			if (!(c->flags & IORING_CQE_F_MORE))
				receive(connection);
			requests++;
			transmit(connection, request, size);
		}
		__atomic_store_n(&free_ring->tail, freed, __ATOMIC_RELEASE);
		__atomic_store_n(cq_head, head, __ATOMIC_RELEASE);
	}
	printf("{\"requests\":%lld,\"errors\":%lld,\"cpu_ns\":%lld,\"wall_ns\":%lld}\n", requests, errors, cpu(), now() - start);
	return 0;
}
