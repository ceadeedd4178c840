term.o: ui/term.c ui/term.h ui/canvas.h src/base/strbuf.h src/view/look.h \
  include/err.h ui/theme.h src/base/altstack.h src/base/clock.h \
  src/base/gate.h src/base/guard.h ui/keys.h

ui/term.h:

ui/canvas.h:

src/base/strbuf.h:

src/view/look.h:

include/err.h:

ui/theme.h:

src/base/altstack.h:

src/base/clock.h:

src/base/gate.h:

src/base/guard.h:

ui/keys.h:
