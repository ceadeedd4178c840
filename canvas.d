canvas.o: ui/canvas.c ui/canvas.h src/base/strbuf.h src/view/look.h \
  src/view/utf8.h

ui/canvas.h:

src/base/strbuf.h:

src/view/look.h:

src/view/utf8.h:
