edit.o: ui/edit.c ui/edit.h ui/canvas.h src/base/strbuf.h src/view/look.h \
  ui/keys.h include/err.h src/view/utf8.h

ui/edit.h:

ui/canvas.h:

src/base/strbuf.h:

src/view/look.h:

ui/keys.h:

include/err.h:

src/view/utf8.h:
