#ifndef GANNET_CLIBFUZZER_SHIM_H
#define GANNET_CLIBFUZZER_SHIM_H

#include <stddef.h>
#include <stdint.h>

/* libFuzzer as a library. It is linked only with -sanitize=fuzzer. */
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));

#endif
