ui.o: ui/ui.c ui/ui.h include/engine.h include/answer.h include/sink.h \
  include/sample.h include/event.h include/frame.h include/source.h \
  include/err.h include/tables.h include/snapshot.h ui/screen.h \
  src/base/vec.h ui/canvas.h src/base/strbuf.h src/view/look.h ui/keys.h \
  ui/layout.h ui/overlay.h ui/edit.h src/view/view.h src/view/number.h \
  ui/term.h ui/theme.h

ui/ui.h:

include/engine.h:

include/answer.h:

include/sink.h:

include/sample.h:

include/event.h:

include/frame.h:

include/source.h:

include/err.h:

include/tables.h:

include/snapshot.h:

ui/screen.h:

src/base/vec.h:

ui/canvas.h:

src/base/strbuf.h:

src/view/look.h:

ui/keys.h:

ui/layout.h:

ui/overlay.h:

ui/edit.h:

src/view/view.h:

src/view/number.h:

ui/term.h:

ui/theme.h:
