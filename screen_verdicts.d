screen_verdicts.o: ui/screen_verdicts.c ui/screen.h src/base/vec.h \
  ui/canvas.h src/base/strbuf.h src/view/look.h ui/keys.h include/err.h \
  ui/layout.h ui/overlay.h ui/edit.h ui/ui.h include/engine.h \
  include/answer.h include/sink.h include/sample.h include/event.h \
  include/frame.h include/source.h include/tables.h include/snapshot.h \
  src/view/view.h src/view/number.h

ui/screen.h:

src/base/vec.h:

ui/canvas.h:

src/base/strbuf.h:

src/view/look.h:

ui/keys.h:

include/err.h:

ui/layout.h:

ui/overlay.h:

ui/edit.h:

ui/ui.h:

include/engine.h:

include/answer.h:

include/sink.h:

include/sample.h:

include/event.h:

include/frame.h:

include/source.h:

include/tables.h:

include/snapshot.h:

src/view/view.h:

src/view/number.h:
