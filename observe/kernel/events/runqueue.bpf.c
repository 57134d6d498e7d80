//go:build ignore

/* How long the target's threads stood in a run queue: from the wake-up, or from
 * the switch that took a CPU from a thread that could have gone on, to the
 * switch that gave one.
 *
 * The kernel adds that time up for each thread (sched_info.run_delay). So the sum
 * is noted when a thread leaves its CPU, and what was added when it leaves the
 * next time is the wait between: no clock is read, and nothing is done at
 * wake-ups. A wait is thus told when the stint that it led to ends. Programs on
 * the wake-ups that noted the time of each were tried, and cost a round trip of
 * two threads several times as much. */
#include "bpf.h"

struct sched_info {
	unsigned long long run_delay;
} kernel_struct;

struct task_struct {
	int pid;
	int tgid;
	struct sched_info sched_info;
} kernel_struct;

/* The sum of each thread as it last left a CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, __u64);
} delays SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct histogram);
} waits SEC(".maps");

SEC("tp_btf/sched_switch")
int sched_switch(__u64 *ctx) {
	struct task_struct *prev = ARG(ctx, struct task_struct *, 1);

	if (!is_target(prev->tgid))
		return 0;
	__u32 pid = prev->pid, zero = 0;
	__u64 now = prev->sched_info.run_delay;
	__u64 *last = bpf_map_lookup_elem(&delays, &pid);
	if (!last) {
		bpf_map_update_elem(&delays, &pid, &now, BPF_ANY);
		return 0;
	}
	__u64 before = *last;
	*last = now;
	if (now < before)
		return 0; /* another thread under a used number */
	struct histogram *h = bpf_map_lookup_elem(&waits, &zero);
	if (h)
		record(h, now - before);
	return 0;
}
