#ifndef GANNET_CUNISTRING_SHIM_H
#define GANNET_CUNISTRING_SHIM_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unicase.h>
#include <unictype.h>
#include <uninorm.h>

/* Names for macros that Swift does not see. The caller frees what the first two return; NULL without memory. */

static inline uint32_t *gannet_unicode_folded(uint32_t character, size_t *count) {
    return u32_casefold(&character, 1, NULL, UNINORM_NFKC, NULL, count);
}

static inline uint32_t *gannet_unicode_composed(const uint32_t *text, size_t length, size_t *count) {
    return u32_normalize(UNINORM_NFC, text, length, NULL, count);
}

static inline int gannet_unicode_is_ignorable(uint32_t character) {
    return uc_is_property(character, UC_PROPERTY_DEFAULT_IGNORABLE_CODE_POINT);
}

/* Controls, format characters, private ones, unassigned ones and blanks. */
static inline int gannet_unicode_is_control_or_blank(uint32_t character) {
    return uc_is_general_category(character, UC_CATEGORY_C) || uc_is_general_category(character, UC_CATEGORY_Z);
}

static inline int gannet_unicode_is_mark(uint32_t character) { return uc_is_general_category(character, UC_CATEGORY_M); }

#endif
