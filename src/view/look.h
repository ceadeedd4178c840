/*
 * look: what a piece of text means on screen. Screens and columns say the meaning; the theme of the
 * user interface turns it into colours.
 */
#ifndef ALTPTTOP_LOOK_H
#define ALTPTTOP_LOOK_H

enum look {
	LOOK_NORMAL,
	LOOK_DIM,    /* present, but not what the eye should meet first */
	LOOK_STRONG, /* what a row is about */
	LOOK_BRAND,  /* the program's name */
	LOOK_LABEL,  /* names of header facts */
	LOOK_VALUE,  /* their values */
	LOOK_GOOD,   /* metrics by their thresholds */
	LOOK_FAIR,
	LOOK_BAD,
	LOOK_WARN,  /* something is missing or was lost */
	LOOK_ERROR, /* something failed */
	LOOK_BAR,
	LOOK_SPARK,
	LOOK_TRACK, /* the empty part of a bar or a scroll bar */
	LOOK_MODULE,
	LOOK_KERNEL,  /* kernel functions */
	LOOK_INLINE,  /* inlined frames */
	LOOK_NOTE,    /* remarks behind names */
	LOOK_SPECIAL, /* [truncated] and its like */
	LOOK_LINE,    /* line numbers, addresses */
	LOOK_CODE,    /* source text */
	LOOK_ASM,     /* instructions */
	LOOK_LINK,    /* something Enter leads to */
	LOOK_MARK,    /* tree handles */
	LOOK_HEAD,    /* column titles */
	LOOK_SORTED,  /* the title that rows are sorted by */
	LOOK_TAB,
	LOOK_TAB_ON,
	LOOK_KEY,   /* a key in the footer */
	LOOK_DOES,  /* what it does */
	LOOK_STATE, /* frozen, filtered, zoomed: a state the person should not forget */
	LOOK_FRAME, /* borders of boxes */
	LOOK_INPUT, /* a prompt's text */
	LOOKS
};

#endif
