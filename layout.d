layout.o: ui/layout.c ui/layout.h ui/canvas.h src/base/strbuf.h \
  src/view/look.h

ui/layout.h:

ui/canvas.h:

src/base/strbuf.h:

src/view/look.h:
