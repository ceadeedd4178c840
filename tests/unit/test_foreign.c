/* Files of other profilers are refused by what they are, and by what can be done about them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "counting_sink.h"

static const struct {
	const char *text, *what;
} files[] = {
	{"heap profile:    1:   8 [  1:   8] @ heap/1\n", "pprof -proto"},
	{"--- mutex:\ncycles/second=2400000000\nsampling period=1\n1 1 @ 0x1\n", "pprof -proto"},
	{"goroutine profile: total 12\n1 @ 0x44 0x45\n", "pprof -proto"},
	{"heap_v2/524288\n  t*: 28106: 56637512 [0: 0]\n", "jeprof"},
	{"# callgrind format\nevents: Ir\nfn=main\n16 20\n", "callgrind_annotate"},
	{"version: 1\ncreator: callgrind-3.19\npid: 12\nfn=(1) main\n16 20\n",
	 "callgrind_annotate"},
	{"# To display the perf.data header info, please use --header\n#\n 1.0%  a  [.] b\n",
	 "perf script"},
	{"@[\n    f+0x1\n    g+0x2\n]: 12\n", "stackcollapse-bpftrace"},
	{"Attaching 1 probe...\n\n@[\n    f+0x1\n]: 12\n", "stackcollapse-bpftrace"},
	{"{\"linux-perf-json-version\":1,\"samples\":[]}", "perf script"},
	{"gmon\001aaaaaaaaaaaaaaaaaaa", "gprof"},
	{"\027\010Dtracing6", "trace-cmd"},
	{"FLR\001\001aaaaaaaaaaaaaaaa", "jfrconv"},
	{"Nettrace\024\000\000\000!FastSerial", "dotnet-trace"},
	{"go 1.22 trace\001\002\003", "go tool trace"},
	{"*version\n3\ndata-file-overflow=false\n", "Android"},
	{"<!DOCTYPE html>\n<html><head>\n", "a page"},
	{"<svg version=\"1.1\" width=\"1200\">\n", "folded stacks"},
	{"{\"version\":\"0.0.1\",\"$schema\":\"https://www.speedscope.app/"
	 "file-format-schema.json\",\"shared\":{\"frames\":[]}}",
	 "speedscope"},
	{"{\"meta\":{\"interval\":1,\"preprocessedProfileVersion\":54},\"threads\":[]}",
	 "Firefox Profiler"},
	{"{\"snapshot\":{\"meta\":{\"node_fields\":[]}},\"nodes\":[1,2]}", "heapprofile"},
	{"MOJO\001aaaaaaaaaaaa", "mojo2austin"},
};

static void test_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		struct counting c;
		struct err err = {0};
		counting_init(&c);
		int rc = counting_text(&c, files[i].text, strlen(files[i].text), NULL, &err);
		if (rc != -EINVAL || !strstr(err.msg, files[i].what))
			fail_msg("%.30s: %d %s", files[i].text, rc, err.msg);
		counting_fini(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_files)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
