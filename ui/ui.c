/*
 * ui: the loop: wait for keys, signals or the engine, act, draw what changed. It never waits for
 * anything else, and leaving it restores the terminal at once. Main thread.
 */
#include "ui.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "screen.h"
#include "term.h"

#define EVENTS_AT_ONCE \
	256 /* keys taken before a frame is drawn: a paste must not hide the screen */

static void take_event(struct ui *ui, const struct term_event *ev)
{
	switch (ev->kind) {
	case TERM_KEY: app_key(ui, ev->key); break;
	case TERM_MOUSE:
		if (ev->button == BUTTON_WHEEL_UP || ev->button == BUTTON_WHEEL_DOWN)
			app_mouse(ui, ev->x, ev->y, false, ev->button == BUTTON_WHEEL_UP ? -1 : 1);
		else if (ev->button != BUTTON_NONE)
			app_mouse(ui, ev->x, ev->y, ev->button == BUTTON_LEFT_TWICE, 0);
		break;
	case TERM_RESIZED:
		if (app_resize(ui, term_width(), term_height()))
			ui->quit = true;
		break;
	case TERM_FINISHED: ui->quit = true; break;
	case TERM_NOTHING: break;
	}
}

static void take_events(struct ui *ui)
{
	for (int i = 0; i < EVENTS_AT_ONCE && !ui->quit; i++) {
		struct term_event ev = term_next();

		if (ev.kind == TERM_NOTHING)
			return;
		take_event(ui, &ev);
		if (ui->suspend) {
			ui->suspend = false;
			term_suspend();
			if (app_resize(ui, term_width(), term_height()))
				ui->quit = true;
		}
	}
}

/* Sleep until something happens, or the refresh interval has passed (messages fade, time is up). */
static void wait_for_events(struct ui *ui)
{
	struct pollfd fds[] = {{.fd = term_fd(), .events = POLLIN},
			       {.fd = term_signal_fd(), .events = POLLIN},
			       {.fd = engine_fd(ui->engine), .events = POLLIN}};
	uint64_t count;

	if (poll(fds, 3, (int)(ui->interval_ms < 1000 ? ui->interval_ms : 1000)) < 0 &&
	    errno != EINTR)
		ui->quit = true;
	if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
		ui->quit = true;
	if (fds[0].revents & POLLIN || fds[1].revents)
		take_events(ui);
	if (fds[2].revents & POLLIN && read(fds[2].fd, &count, sizeof count) < 0 &&
	    errno != EAGAIN && errno != EINTR)
		ui->quit = true;
}

int ui_run(struct engine *engine, const struct ui_config *config, struct err *err)
{
	struct term_config terminal = {
		.ascii = config->ascii, .mouse = !config->no_mouse, .color = config->color};
	struct ui ui;
	int rc = term_open(&terminal, err);

	if (rc)
		return rc;
	rc = app_init(&ui, engine, config, err);
	if (rc)
		goto out;
	ui.canvas.ascii = term_ascii();
	ui.mouse = term_mouse;
	rc = app_resize(&ui, term_width(), term_height());
	while (!rc && !ui.quit) {
		app_poll(&ui);
		if (config->done && config->done(config->done_ctx))
			break;
		if (ui.redraw) {
			app_frame(&ui);
			if (ui.anew)
				term_redraw();
			ui.anew = false;
			term_show(&ui.canvas);
		}
		wait_for_events(&ui);
	}
	term_close();
	app_fini(&ui);
	return rc ? err_set(err, -rc, "not enough memory for the screen") : 0;
out:
	term_close();
	return rc;
}
