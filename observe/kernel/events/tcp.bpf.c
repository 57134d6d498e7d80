//go:build ignore

/* What happens to TCP connections in the target's network namespace: opened,
 * established, closed, segments retransmitted. All are counted, to be held
 * against the kernel's own counters, and the target's by themselves.
 *
 * Most of it runs in softirq, where the current process is anyone's. So a
 * connection is the target's if its local port is one that the target listens
 * on, or if the target's process asked for it (CLOSE to SYN_SENT runs there). */
#include "bpf.h"

#define TCP 6
#define AF_INET 2
/* States, include/net/tcp_states.h. */
#define ESTABLISHED 1
#define SYN_SENT 2
#define SYN_RECV 3
#define CLOSE 7
#define LISTEN 10

struct in6_addr {
	__u8 bytes[16];
} ;

struct ns_common {
	unsigned int inum;
} kernel_struct;

struct net {
	struct ns_common ns;
} kernel_struct;

typedef struct {
	struct net *net;
} kernel_struct possible_net_t;

struct sock_common {
	__u32 skc_daddr;
	__u16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
} kernel_struct;

struct sock {
	struct sock_common __sk_common;
	__u16 sk_protocol;
} kernel_struct;

struct inet_sock {
	__u16 inet_sport;
} kernel_struct;

struct tcp_sock {
	__u32 srtt_us;
} kernel_struct;

struct request_sock {
	struct sock_common __req_common;
} kernel_struct;

struct sk_buff {
	char cb[48];
} kernel_struct;

struct tcp_skb_cb {
	__u16 tcp_gso_segs;
} kernel_struct;

/* Number of the network namespace; redline keeps it up to date. */
volatile __u32 netns;

/* The target's local ports: it listens there, or it connected from there before
 * the programs were attached. redline fills and clears it, too. */
#define LISTENS 1
#define CONNECTED 2

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u32);
	__uint(map_flags, 1); /* BPF_F_NO_PREALLOC: most have a few */
} ports SEC(".maps");

static inline __u32 kind_of(__u32 port) {
	__u32 *kind = bpf_map_lookup_elem(&ports, &port);
	return kind ? *kind : 0;
}

#define IN 0
#define OUT 1

struct connection {
	__u64 since; /* ns: asked for, then established */
	__u32 dir;
	__u32 established;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64); /* address of the struct sock */
	__type(value, struct connection);
} connections SEC(".maps");

struct counts {
	/* All of the namespace, as the kernel's ActiveOpens, PassiveOpens and
	 * RetransSegs. */
	__u64 active, passive, retransmits;
	/* The target's; by direction. */
	__u64 opens[2], closes[2], connect_fails, own_retransmits;
	__u64 untracked; /* the map of connections was full */
	__u64 untold;    /* the ring was full */
	struct histogram handshake, connect, lifetime;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counts);
} counts SEC(".maps");

/* One retransmission of the target's. */
struct retransmit {
	__u64 at; /* ns, CLOCK_MONOTONIC */
	__u32 segments;
	__u16 family;
	__u16 local, remote; /* ports, host byte order */
	__u8 inwards;        /* local is a port that the target listens on */
	__u8 pad;
	__u8 address[16]; /* the peer's; of IPv4 the first four bytes */
	__u32 pad2;
};

/* 64 KB hold some 1,000 between two readings. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536);
} retransmitted SEC(".maps");

static inline struct counts *own_counts(void) {
	__u32 zero = 0;
	return bpf_map_lookup_elem(&counts, &zero);
}

static inline int elsewhere(struct sock_common *c) { return c->skc_net.net->ns.inum != netns; }

static inline void track(struct counts *n, __u64 key, __u32 dir, __u32 established) {
	struct connection c = {.since = bpf_ktime_get_ns(), .dir = dir, .established = established};
	if (bpf_map_update_elem(&connections, &key, &c, BPF_ANY))
		n->untracked++;
}

static inline void on_established(struct counts *n, struct sock *sk, __u64 key, int old) {
	if (old == SYN_SENT) {
		struct connection *c = bpf_map_lookup_elem(&connections, &key);
		if (!c)
			return;
		__u64 now = bpf_ktime_get_ns();
		record(&n->connect, now - c->since);
		c->since = now;
		c->established = 1;
		n->opens[OUT]++;
		return;
	}
	if (kind_of(sk->__sk_common.skc_num) != LISTENS)
		return;
	n->opens[IN]++;
	track(n, key, IN, 1);
	/* The socket is made when the last ACK comes; how long ago the SYN-ACK
	 * was sent is its first round trip (tcp_synack_rtt_meas), in eighths. */
	__u32 srtt = 0;
	bpf_probe_read_kernel(&srtt, sizeof(srtt), &((struct tcp_sock *)sk)->srtt_us);
	if (srtt)
		record(&n->handshake, (__u64)(srtt >> 3) * 1000);
}

static inline void on_close(struct counts *n, struct sock *sk, __u64 key, int old) {
	struct connection *c = bpf_map_lookup_elem(&connections, &key);

	if (!c) { /* older than we are, or never established */
		/* skc_num is cleared by now. */
		__u16 sport = 0;
		bpf_probe_read_kernel(&sport, sizeof(sport), &((struct inet_sock *)sk)->inet_sport);
		__u32 port = __builtin_bswap16(sport), kind = kind_of(port);
		if (old == SYN_RECV || old == SYN_SENT)
			return;
		if (kind == CONNECTED) {
			bpf_map_delete_elem(&ports, &port);
			n->closes[OUT]++;
		} else if (kind == LISTENS) {
			n->closes[IN]++;
		}
		return;
	}
	if (c->established) {
		record(&n->lifetime, bpf_ktime_get_ns() - c->since);
		n->closes[c->dir & 1]++;
	} else {
		n->connect_fails++;
	}
	bpf_map_delete_elem(&connections, &key);
}

SEC("tp_btf/inet_sock_set_state")
int inet_sock_set_state(__u64 *ctx) {
	struct sock *sk = ARG(ctx, struct sock *, 0);
	int old = ARG(ctx, int, 1), now = ARG(ctx, int, 2);
	__u64 key = ctx[0];

	if (sk->sk_protocol != TCP || elsewhere(&sk->__sk_common))
		return 0;
	struct counts *n = own_counts();
	if (!n)
		return 0;
	if (now == SYN_SENT) {
		n->active++;
		if (is_target(bpf_get_current_pid_tgid() >> 32))
			track(n, key, OUT, 0);
	} else if (now == SYN_RECV && old == LISTEN) {
		n->passive++;
	} else if (now == LISTEN) {
		__u32 port = sk->__sk_common.skc_num, kind = LISTENS;
		if (is_target(bpf_get_current_pid_tgid() >> 32))
			bpf_map_update_elem(&ports, &port, &kind, BPF_ANY);
	} else if (now == ESTABLISHED) {
		on_established(n, sk, key, old);
	} else if (now == CLOSE && old != LISTEN) {
		on_close(n, sk, key, old);
	}
	return 0;
}

static inline void retransmission(struct sock_common *peer, __u16 port, __u64 key, __u32 segments) {
	struct counts *n = own_counts();
	if (!n)
		return;
	n->retransmits += segments;
	__u32 kind = kind_of(port);
	if (!kind && !bpf_map_lookup_elem(&connections, &key))
		return;
	n->own_retransmits += segments;
	struct retransmit *r = bpf_ringbuf_reserve(&retransmitted, sizeof(*r), 0);
	if (!r) {
		n->untold++;
		return;
	}
	r->at = bpf_ktime_get_ns();
	r->segments = segments;
	r->family = peer->skc_family;
	r->local = port;
	r->remote = __builtin_bswap16(peer->skc_dport);
	r->inwards = kind == LISTENS;
	r->pad = 0;
	r->pad2 = 0;
	__builtin_memset(r->address, 0, sizeof(r->address));
	if (r->family == AF_INET)
		*(__u32 *)r->address = peer->skc_daddr;
	else
		bpf_probe_read_kernel(r->address, sizeof(r->address), &peer->skc_v6_daddr);
	bpf_ringbuf_submit(r, 1); /* BPF_RB_NO_WAKEUP: it is read once a window */
}

SEC("tp_btf/tcp_retransmit_skb")
int tcp_retransmit_skb(__u64 *ctx) {
	struct sock *sk = ARG(ctx, struct sock *, 0);
	struct sk_buff *skb = ARG(ctx, struct sk_buff *, 1);
	__u16 segments = 0;

	if (elsewhere(&sk->__sk_common))
		return 0;
	/* One buffer may hold many segments, which the kernel counts each. */
	bpf_probe_read_kernel(&segments, sizeof(segments), &((struct tcp_skb_cb *)&skb->cb)->tcp_gso_segs);
	retransmission(&sk->__sk_common, sk->__sk_common.skc_num, ctx[0], segments ? segments : 1);
	return 0;
}

SEC("tp_btf/tcp_retransmit_synack")
int tcp_retransmit_synack(__u64 *ctx) {
	struct sock *listener = ARG(ctx, struct sock *, 0);
	struct request_sock *request = ARG(ctx, struct request_sock *, 1);

	if (elsewhere(&listener->__sk_common))
		return 0;
	retransmission(&request->__req_common, listener->__sk_common.skc_num, ctx[1], 1);
	return 0;
}
