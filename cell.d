cell.o: src/view/cell.c src/view/cell.h src/view/view.h include/answer.h \
  include/sink.h include/sample.h include/event.h include/frame.h \
  include/source.h include/err.h include/tables.h src/view/look.h \
  src/view/number.h src/view/shorten.h

src/view/cell.h:

src/view/view.h:

include/answer.h:

include/sink.h:

include/sample.h:

include/event.h:

include/frame.h:

include/source.h:

include/err.h:

include/tables.h:

src/view/look.h:

src/view/number.h:

src/view/shorten.h:
