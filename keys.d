keys.o: ui/keys.c ui/keys.h include/err.h src/view/utf8.h

ui/keys.h:

include/err.h:

src/view/utf8.h:
