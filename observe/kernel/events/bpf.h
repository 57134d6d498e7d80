/* What the programs here need of the kernel's BPF interface, in few lines, so
 * that neither libbpf nor vmlinux.h is needed to build them. Numbers of helpers
 * are from include/uapi/linux/bpf.h. Structs of the kernel name only the fields
 * that are read; their places are found when a program is loaded (CO-RE). */
#pragma once

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;

#define SEC(name) __attribute__((section(name), used))
#define __uint(name, val) int(*name)[val]
#define __type(name, val) typeof(val) *name
#define inline __attribute__((always_inline)) inline
#define kernel_struct __attribute__((preserve_access_index))

#define BPF_MAP_TYPE_HASH 1
#define BPF_MAP_TYPE_PERCPU_ARRAY 6
#define BPF_MAP_TYPE_LRU_HASH 9
#define BPF_MAP_TYPE_RINGBUF 27
#define BPF_ANY 0

static void *(*bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*bpf_map_update_elem)(void *map, const void *key, const void *value, __u64 flags) = (void *)2;
static long (*bpf_map_delete_elem)(void *map, const void *key) = (void *)3;
static __u64 (*bpf_ktime_get_ns)(void) = (void *)5;
static __u64 (*bpf_get_current_pid_tgid)(void) = (void *)14;
static long (*bpf_probe_read_kernel)(void *dst, __u32 size, const void *from) = (void *)113;
static void *(*bpf_ringbuf_reserve)(void *ringbuf, __u64 size, __u64 flags) = (void *)131;
static void (*bpf_ringbuf_submit)(void *data, __u64 flags) = (void *)132;

#define field_exists(field) __builtin_preserve_field_info(field, 2)

/* A program on a tracepoint with BTF gets the tracepoint's arguments as an
 * array of words. */
#define ARG(ctx, type, n) ((type)(ctx)[n])

/* The processes of the target; redline keeps them up to date. */
#define TARGETS 8
volatile __u32 targets[TARGETS];

static inline int is_target(__u32 tgid) {
	/* Filled from the front: most targets are one process. */
	for (int i = 0; i < TARGETS; i++) {
		__u32 t = targets[i];
		if (t == 0)
			return 0;
		if (t == tgid)
			return 1;
	}
	return 0;
}

/* A histogram of ns with four buckets to each power of two, so that a value is
 * known to a quarter of itself; the last bucket takes all above 2^42. The Go
 * side (histogram.go) has the inverse. */
#define BUCKETS 168

struct histogram {
	__u64 count;
	__u64 sum;
	__u64 buckets[BUCKETS];
};

static inline __u32 bucket(__u64 v) {
	__u32 e = 0;
	__u64 x = v;

	if (v < 4)
		return (__u32)v;
	if (v >> 42)
		return BUCKETS - 1;
	if (x >> 32) { x >>= 32; e += 32; }
	if (x >> 16) { x >>= 16; e += 16; }
	if (x >> 8) { x >>= 8; e += 8; }
	if (x >> 4) { x >>= 4; e += 4; }
	if (x >> 2) { x >>= 2; e += 2; }
	if (x >> 1) e += 1;
	return (e - 1) * 4 + (__u32)((v >> (e - 2)) & 3);
}

/* Called for per-CPU values only: no other CPU writes h. An interrupt on this
 * one may lose a count, which is rare enough. */
static inline void record(struct histogram *h, __u64 v) {
	__u32 b = bucket(v);

	h->count++;
	h->sum += v;
	if (b < BUCKETS)
		h->buckets[b]++;
}

char redline_license[] SEC("license") = "Dual MIT/GPL";
