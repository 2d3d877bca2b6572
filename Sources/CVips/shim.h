#ifndef GANNET_CVIPS_SHIM_H
#define GANNET_CVIPS_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* The functions of libvips that are used here, in place of <vips/vips.h>. That header needs glib's, in folders that pkg-config names together
 * with a flag about which SwiftPM warns in every build. A test holds these lines against libvips' own. */
typedef struct _VipsImage VipsImage;
typedef struct _VipsArea VipsArea;
typedef struct _VipsArrayDouble VipsArrayDouble;

int vips_init(const char *program);
void vips_vector_set_enabled(int enabled);
void vips_concurrency_set(int threads);
void vips_cache_set_max(int operations);
void vips_block_untrusted_set(int blocked);
void vips_operation_block_set(const char *class_name, int blocked);
const char *vips_error_buffer(void);
void vips_error_clear(void);
int vips_foreign_is_a_buffer(const char *loader, const void *bytes, size_t count);
VipsImage *vips_image_new_from_buffer(const void *bytes, size_t count, const char *options, ...);
VipsImage *vips_image_copy_memory(VipsImage *image);
int vips_image_get_width(const VipsImage *image);
int vips_image_get_height(const VipsImage *image);
int vips_image_get_bands(const VipsImage *image);
int vips_image_get_format(const VipsImage *image);
int vips_image_get_interpretation(const VipsImage *image);
int vips_image_hasalpha(VipsImage *image);
int vips_image_get_orientation_swap(VipsImage *image);
int vips_image_get_orientation(VipsImage *image);
int vips_image_get_string(const VipsImage *image, const char *name, const char **out);
char **vips_image_get_fields(VipsImage *image);
int vips_image_remove(VipsImage *image, const char *name);
VipsArrayDouble *vips_array_double_new(const double *values, int count);
void vips_area_unref(VipsArea *area);
int vips_thumbnail_buffer(void *bytes, size_t count, VipsImage **out, int width, ...);
int vips_resize(VipsImage *in, VipsImage **out, double scale, ...);
int vips_colourspace(VipsImage *in, VipsImage **out, int space, ...);
int vips_cast_uchar(VipsImage *in, VipsImage **out, ...);
int vips_extract_band(VipsImage *in, VipsImage **out, int band, ...);
int vips_min(VipsImage *in, double *out, ...);
int vips_flatten(VipsImage *in, VipsImage **out, ...);
int vips_extract_area(VipsImage *in, VipsImage **out, int left, int top, int width, int height, ...);
int vips_embed(VipsImage *in, VipsImage **out, int left, int top, int width, int height, ...);
int vips_black(VipsImage **out, int width, int height, ...);
int vips_copy(VipsImage *in, VipsImage **out, ...);
int vips_jpegsave_buffer(VipsImage *in, void **bytes, size_t *count, ...);
int vips_pngsave_buffer(VipsImage *in, void **bytes, size_t *count, ...);
int vips_webpsave_buffer(VipsImage *in, void **bytes, size_t *count, ...);
int vips_heifsave_buffer(VipsImage *in, void **bytes, size_t *count, ...);
void g_object_unref(void *object);
void g_free(void *bytes);
void g_strfreev(char **words);
/* Under another name, because its own has types of glib. */
void gannet_glib_set_writer(
    int (*writer)(unsigned int level, const void *fields, size_t count, void *context), void *context, void (*free)(void *))
    __asm__("g_log_set_writer_func");

enum {
    GANNET_VIPS_FALSE = 0,
    GANNET_VIPS_TRUE = 1,
    GANNET_VIPS_SEQUENTIAL = 1,
    GANNET_VIPS_SIZE_FORCE = 3,
    GANNET_VIPS_KERNEL_CUBIC = 2,
    GANNET_VIPS_EXTEND_WHITE = 4,
    GANNET_VIPS_UCHAR = 0,
    GANNET_VIPS_B_W = 1,
    GANNET_VIPS_SRGB = 22,
    GANNET_VIPS_AV1 = 4,
    GANNET_VIPS_SUBSAMPLE_ON = 1,
};

static inline int gannet_glib_say_nothing(unsigned int level, const void *fields, size_t count, void *context) {
    (void)level, (void)fields, (void)count, (void)context;
    return 1;
}

/* glib's own writer looks at the descriptors of its messages, by system calls that the sandbox refuses. */
static inline void gannet_vips_quiet(void) { gannet_glib_set_writer(gannet_glib_say_nothing, NULL, NULL); }

/* Swift cannot call variadic C functions. */

static inline VipsImage *gannet_vips_open(const void *bytes, size_t count) {
    return vips_image_new_from_buffer(bytes, count, "", "access", GANNET_VIPS_SEQUENTIAL, NULL);
}

/* Exactly this size. Only the first frame of an animation is read, which is what loaders do unless they are told otherwise. A truncated picture is
 * an error. As a property, fail_on does not reach the loader (libvips 8.14). Without managed colours, profiles are ignored. */
static inline int gannet_vips_scaled(
    const void *bytes, size_t count, VipsImage **out, int width, int height, bool upright, bool managed) {
    int stays = upright ? GANNET_VIPS_FALSE : GANNET_VIPS_TRUE;
    if (!managed)
        return vips_thumbnail_buffer((void *)bytes, count, out, width, "height", height, "size", GANNET_VIPS_SIZE_FORCE, "no_rotate", stays,
            "option_string", "[fail_on=truncated]", NULL);
    return vips_thumbnail_buffer((void *)bytes, count, out, width, "height", height, "size", GANNET_VIPS_SIZE_FORCE, "no_rotate", stays,
        "export_profile", "srgb", "option_string", "[fail_on=truncated]", NULL);
}

/* A JPEG of plain colours, to exactly this size. Its decoder shrinks it first. Then one and a half of its pixels or more make one of the result.
 * vips_thumbnail leaves two, and takes longer. */
static inline int gannet_vips_scaled_jpeg(const void *bytes, size_t count, VipsImage **out, int width, int height, int shrink) {
    char options[64];
    snprintf(options, sizeof options, "[shrink=%d,fail_on=truncated]", shrink);
    VipsImage *image = vips_image_new_from_buffer(bytes, count, options, "access", GANNET_VIPS_SEQUENTIAL, NULL);
    if (!image) return -1;
    int code = vips_resize(image, out, (double)width / vips_image_get_width(image), "vscale",
        (double)height / vips_image_get_height(image), "kernel", GANNET_VIPS_KERNEL_CUBIC, "gap", 1.5, NULL);
    g_object_unref(image);
    return code;
}

static inline int gannet_vips_cut(VipsImage *in, VipsImage **out, int left, int top, int width, int height) {
    return vips_extract_area(in, out, left, top, width, height, NULL);
}

/* On a white ground. */
static inline int gannet_vips_ground(VipsImage *in, VipsImage **out, int left, int top, int width, int height) {
    return vips_embed(in, out, left, top, width, height, "extend", GANNET_VIPS_EXTEND_WHITE, NULL);
}

static inline int gannet_vips_srgb(VipsImage *in, VipsImage **out) {
    return vips_colourspace(in, out, GANNET_VIPS_SRGB, NULL);
}

static inline int gannet_vips_bytes(VipsImage *in, VipsImage **out) { return vips_cast_uchar(in, out, NULL); }

static inline int gannet_vips_band(VipsImage *in, VipsImage **out, int first, int count) {
    return vips_extract_band(in, out, first, "n", count, NULL);
}

static inline int gannet_vips_least(VipsImage *in, double *out) { return vips_min(in, out, NULL); }

/* Transparent parts become white. */
static inline int gannet_vips_flatten(VipsImage *in, VipsImage **out) {
    double white[] = {255, 255, 255};
    VipsArrayDouble *background = vips_array_double_new(white, vips_image_get_bands(in) > 2 ? 3 : 1);
    int code = vips_flatten(in, out, "background", background, NULL);
    vips_area_unref((VipsArea *)background);
    return code;
}

/* Where and with what a picture was taken, and all else that is written beside its pixels. Writing WebP with "strip" keeps it (libvips 8.14). */
static inline void gannet_vips_forget(VipsImage *image) {
    char **names = vips_image_get_fields(image);
    for (char **name = names; name && *name; name++) vips_image_remove(image, *name);
    g_strfreev(names);
}

/* Whether it says what its numbers of colours mean. */
static inline bool gannet_vips_has_profile(VipsImage *image) {
    bool found = false;
    char **names = vips_image_get_fields(image);
    for (char **name = names; name && *name; name++) found = found || strcmp(*name, "icc-profile-data") == 0;
    g_strfreev(names);
    return found;
}

/* Colours have half the pixels of brightness at any quality, as other writers of JPEG have it. libvips keeps them all from a quality of 90 on. */
static inline int gannet_vips_jpeg(VipsImage *in, void **bytes, size_t *count, int quality) {
    return vips_jpegsave_buffer(in, bytes, count, "Q", quality, "strip", GANNET_VIPS_TRUE, "optimize_coding", GANNET_VIPS_TRUE,
        "subsample_mode", GANNET_VIPS_SUBSAMPLE_ON, NULL);
}

static inline int gannet_vips_png(VipsImage *in, void **bytes, size_t *count) {
    return vips_pngsave_buffer(in, bytes, count, "strip", GANNET_VIPS_TRUE, NULL);
}

static inline int gannet_vips_webp(VipsImage *in, void **bytes, size_t *count, int quality) {
    return vips_webpsave_buffer(in, bytes, count, "Q", quality, "strip", GANNET_VIPS_TRUE, NULL);
}

static inline int gannet_vips_avif(VipsImage *in, void **bytes, size_t *count, int quality) {
    return vips_heifsave_buffer(in, bytes, count, "Q", quality, "strip", GANNET_VIPS_TRUE, "compression", GANNET_VIPS_AV1,
        "effort", 2, NULL);
}

/* A small picture with colours, for a first run through each coder. */
static inline int gannet_vips_sample(VipsImage **out) {
    VipsImage *grey = NULL;
    if (vips_black(&grey, 64, 48, "bands", 3, NULL)) return -1;
    int code = vips_copy(grey, out, "interpretation", GANNET_VIPS_SRGB, NULL);
    g_object_unref(grey);
    return code;
}

/* With the profile of its colours, so that reading the picture loads the colour management too. */
static inline int gannet_vips_profiled_jpeg(VipsImage *in, void **bytes, size_t *count) {
    return vips_jpegsave_buffer(in, bytes, count, "profile", "srgb", NULL);
}

#endif
