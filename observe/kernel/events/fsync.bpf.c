//go:build ignore

/* How long the target waits for its files to be synced: fsync, fdatasync, and
 * writes to files opened with O_SYNC or O_DSYNC. The file systems' own
 * tracepoints tell, at no cost to anything else. Those of the system calls were
 * tried: they slow down every system call of the machine by 0.1 to 0.4 us. */
#include "bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64); /* thread */
	__type(value, __u64);
} syncing SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct histogram);
} syncs SEC(".maps");

static inline int enter(void) {
	__u64 id = bpf_get_current_pid_tgid();
	if (!is_target(id >> 32))
		return 0;
	__u64 now = bpf_ktime_get_ns();
	bpf_map_update_elem(&syncing, &id, &now, BPF_ANY);
	return 0;
}

static inline int leave(void) {
	__u64 id = bpf_get_current_pid_tgid();
	if (!is_target(id >> 32))
		return 0;
	__u64 *since = bpf_map_lookup_elem(&syncing, &id);
	if (!since)
		return 0;
	__u64 from = *since;
	__u32 zero = 0;
	bpf_map_delete_elem(&syncing, &id);
	struct histogram *h = bpf_map_lookup_elem(&syncs, &zero);
	if (h)
		record(h, bpf_ktime_get_ns() - from);
	return 0;
}

SEC("tp_btf/ext4_sync_file_enter")
int ext4_sync_file_enter(__u64 *ctx) { return enter(); }

SEC("tp_btf/ext4_sync_file_exit")
int ext4_sync_file_exit(__u64 *ctx) { return leave(); }

SEC("tp_btf/f2fs_sync_file_enter")
int f2fs_sync_file_enter(__u64 *ctx) { return enter(); }

SEC("tp_btf/f2fs_sync_file_exit")
int f2fs_sync_file_exit(__u64 *ctx) { return leave(); }
