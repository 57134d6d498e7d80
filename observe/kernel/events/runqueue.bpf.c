//go:build ignore

/* How long the target's threads stood in a run queue: from the wake-up, or from
 * the switch that took a CPU from a thread that could have gone on, to the
 * switch that gave one. Both tracepoints run for every thread of the machine,
 * so what is not the target's leaves at once. */
#include "bpf.h"

struct task_struct {
	int pid;
	int tgid;
	unsigned int __state;
} kernel_struct;

/* Before Linux 5.14. */
struct task_struct___old {
	long state;
} kernel_struct;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, __u64);
} runnable SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct histogram);
} waits SEC(".maps");

static inline int enqueue(struct task_struct *p) {
	if (!is_target(p->tgid))
		return 0;
	__u32 pid = p->pid;
	__u64 now = bpf_ktime_get_ns();
	bpf_map_update_elem(&runnable, &pid, &now, BPF_ANY);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int sched_wakeup(__u64 *ctx) { return enqueue(ARG(ctx, struct task_struct *, 0)); }

SEC("tp_btf/sched_wakeup_new")
int sched_wakeup_new(__u64 *ctx) { return enqueue(ARG(ctx, struct task_struct *, 0)); }

static inline int still_runnable(struct task_struct *p) {
	if (field_exists(p->__state))
		return p->__state == 0;
	return ((struct task_struct___old *)p)->state == 0;
}

SEC("tp_btf/sched_switch")
int sched_switch(__u64 *ctx) {
	struct task_struct *prev = ARG(ctx, struct task_struct *, 1);
	struct task_struct *next = ARG(ctx, struct task_struct *, 2);

	if (is_target(prev->tgid) && (ARG(ctx, __u8, 0) || still_runnable(prev)))
		enqueue(prev);
	if (!is_target(next->tgid))
		return 0;
	__u32 pid = next->pid, zero = 0;
	__u64 *since = bpf_map_lookup_elem(&runnable, &pid);
	if (!since)
		return 0;
	__u64 from = *since;
	bpf_map_delete_elem(&runnable, &pid);
	struct histogram *h = bpf_map_lookup_elem(&waits, &zero);
	if (h)
		record(h, bpf_ktime_get_ns() - from);
	return 0;
}
