//go:build ignore

// The floor of an HTTP/1.1 load generator: connections that write a prebuilt
// request, wait in epoll and read the answer. It takes each read for one whole
// answer, keeps no time and no histogram, and so shows what the kernel alone
// costs.
//
//   floor HOST PORT CONNECTIONS SECONDS   ->   {"requests":N,"errors":N,"cpu_ns":N,"wall_ns":N}

#include "floor.h"
#include <sys/epoll.h>

int main(int argc, char **argv) {
	if (argc != 5) {
		fprintf(stderr, "usage: floor HOST PORT CONNECTIONS SECONDS\n");
		return 2;
	}
	int connections = atoi(argv[3]);
	long long length = (long long)(atof(argv[4]) * 1e9);
	char request[256];
	int size = snprintf(request, sizeof request, "GET / HTTP/1.1\r\nHost: %s:%s\r\n\r\n", argv[1], argv[2]);

	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[2]))};
	must(inet_pton(AF_INET, argv[1], &to.sin_addr) == 1, "host");
	int epoll = epoll_create1(0);
	must(epoll >= 0, "epoll_create1");
	for (int i = 0; i < connections; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
		must(fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0, "connect");
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
		must(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) == 0, "epoll_ctl");
		must(write(fd, request, size) == size, "write");
	}

	long long requests = 0, errors = 0, start = now(), end = start + length;
	struct epoll_event ready[256];
	char answer[4096];
	while (now() < end && errors < connections) {
		int n = epoll_wait(epoll, ready, 256, 100);
		for (int i = 0; i < n; i++) {
			int fd = ready[i].data.fd;
			if (read(fd, answer, sizeof answer) <= 0 || write(fd, request, size) != size) {
				errors++;
				close(fd);
				continue;
			}
			requests++;
		}
	}
	printf("{\"requests\":%lld,\"errors\":%lld,\"cpu_ns\":%lld,\"wall_ns\":%lld}\n", requests, errors, cpu(), now() - start);
	return 0;
}
