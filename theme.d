theme.o: ui/theme.c ui/theme.h ui/canvas.h src/base/strbuf.h \
  src/view/look.h

ui/theme.h:

ui/canvas.h:

src/base/strbuf.h:

src/view/look.h:
