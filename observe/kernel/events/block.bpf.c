//go:build ignore

/* How long the host's block devices take for a request, from its issue to the
 * driver to its completion. Requests are issued by kernel threads as well, so
 * they are not told apart by process. */
#include "bpf.h"

#define REQ_OP_MASK 0xff
#define OTHER 3

struct request {
	unsigned int cmd_flags;
	unsigned int __data_len;
} kernel_struct;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, __u64);
} issued SEC(".maps");

/* Read, write, flush and other. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, OTHER + 1);
	__type(key, __u32);
	__type(value, struct histogram);
} requests SEC(".maps");

SEC("tp_btf/block_rq_issue")
int block_rq_issue(__u64 *ctx) {
	__u64 rq = ctx[0], now = bpf_ktime_get_ns();
	bpf_map_update_elem(&issued, &rq, &now, BPF_ANY);
	return 0;
}

SEC("tp_btf/block_rq_complete")
int block_rq_complete(__u64 *ctx) {
	struct request *request = ARG(ctx, struct request *, 0);
	__u64 rq = ctx[0];

	if (ARG(ctx, __u32, 2) < request->__data_len)
		return 0; /* a part of it */
	__u64 *since = bpf_map_lookup_elem(&issued, &rq);
	if (!since)
		return 0;
	__u64 from = *since;
	bpf_map_delete_elem(&issued, &rq);
	__u32 op = request->cmd_flags & REQ_OP_MASK;
	if (op > OTHER)
		op = OTHER;
	struct histogram *h = bpf_map_lookup_elem(&requests, &op);
	if (h)
		record(h, bpf_ktime_get_ns() - from);
	return 0;
}
