paragraph.o: ui/paragraph.c ui/paragraph.h ui/canvas.h src/base/strbuf.h \
  src/view/look.h src/view/utf8.h

ui/paragraph.h:

ui/canvas.h:

src/base/strbuf.h:

src/view/look.h:

src/view/utf8.h:
