show_threads.o: src/engine/show_threads.c src/engine/build.h \
  src/base/arena.h src/engine/core.h src/base/mailbox.h src/base/spsc.h \
  src/engine/calls.h include/frame.h src/engine/intake.h \
  src/engine/lives.h src/base/hash.h include/sink.h include/sample.h \
  include/event.h include/tables.h src/engine/shared.h include/trace.h \
  include/answer.h include/source.h include/err.h src/engine/output.h \
  src/engine/run.h include/engine.h include/snapshot.h \
  src/engine/spans.h src/engine/trigger.h src/insight/rule.h \
  src/event/formula.h src/profile/fold.h src/profile/chain.h \
  src/profile/flat.h src/base/vec.h src/profile/profile.h \
  src/profile/history.h src/profile/cellcode.h src/profile/cells.h \
  src/profile/ledger.h src/profile/numbered.h src/profile/through.h \
  src/profile/trie.h src/engine/metrics.h src/event/set.h \
  src/event/spec.h src/insight/confidence.h src/profile/foldtask.h \
  src/profile/usage.h

src/engine/build.h:

src/base/arena.h:

src/engine/core.h:

src/base/mailbox.h:

src/base/spsc.h:

src/engine/calls.h:

include/frame.h:

src/engine/intake.h:

src/engine/lives.h:

src/base/hash.h:

include/sink.h:

include/sample.h:

include/event.h:

include/tables.h:

src/engine/shared.h:

include/trace.h:

include/answer.h:

include/source.h:

include/err.h:

src/engine/output.h:

src/engine/run.h:

include/engine.h:

include/snapshot.h:

src/engine/spans.h:

src/engine/trigger.h:

src/insight/rule.h:

src/event/formula.h:

src/profile/fold.h:

src/profile/chain.h:

src/profile/flat.h:

src/base/vec.h:

src/profile/profile.h:

src/profile/history.h:

src/profile/cellcode.h:

src/profile/cells.h:

src/profile/ledger.h:

src/profile/numbered.h:

src/profile/through.h:

src/profile/trie.h:

src/engine/metrics.h:

src/event/set.h:

src/event/spec.h:

src/insight/confidence.h:

src/profile/foldtask.h:

src/profile/usage.h:
