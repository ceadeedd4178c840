overlay.o: ui/overlay.c ui/overlay.h src/base/strbuf.h ui/canvas.h \
  src/view/look.h ui/edit.h ui/paragraph.h ui/screen.h src/base/vec.h \
  ui/keys.h include/err.h ui/layout.h ui/ui.h include/engine.h \
  include/answer.h include/sink.h include/sample.h include/event.h \
  include/frame.h include/source.h include/tables.h include/snapshot.h \
  src/view/view.h src/view/number.h src/view/utf8.h

ui/overlay.h:

src/base/strbuf.h:

ui/canvas.h:

src/view/look.h:

ui/edit.h:

ui/paragraph.h:

ui/screen.h:

src/base/vec.h:

ui/keys.h:

include/err.h:

ui/layout.h:

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

src/view/utf8.h:
