/* device.h - names of devices: "cuda:0". */
#ifndef FH_DEVICE_H_
#define FH_DEVICE_H_

#include "core/platform/base.h"

/* Writes "cuda:0", for an unknown type "unknown(77):0", as a NUL-terminated string to `buffer` of FH_DEVICE_TEXT_MAX
 * bytes. */
#define FH_DEVICE_TEXT_MAX 48
void fh_device_print(DLDevice device, char *buffer);

#endif /* FH_DEVICE_H_ */
