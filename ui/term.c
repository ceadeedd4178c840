/*
 * term: the curses terminal. Signals only set flags and wake the loop through a pipe; a crash
 * writes a sequence prepared beforehand and puts the line's modes back, with calls that are safe in
 * signal handlers. Ui thread (the main thread) only. What is drawn comes from canvas.h.
 */
#include "term.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "base/altstack.h"
#include "base/clock.h"
#include "base/gate.h"
#include "base/guard.h"
#include "keys.h"

#define ESC_WAIT_MS     25
#define TWICE_NS        400000000ULL
#define GATE_WAIT_MS    100
#define PAIRS_MAX       200
#define RESTORE_SIZE    256
#define END_WAIT_S      5   /* for the terminal to take what is still to be written */
#define SUSPEND_WAIT_MS 200 /* for the sampler to let go of the target */
#define DEAF_READS      64  /* reads in a row that bring nothing though input was promised */

static const int wake_signals[] = {SIGWINCH, SIGTSTP, SIGCONT, SIGTERM, SIGHUP, SIGINT, SIGQUIT};
static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
#define WAKES   (sizeof wake_signals / sizeof *wake_signals)
#define CRASHES (sizeof crash_signals / sizeof *crash_signals)

static struct {
	bool open, ascii, mouse, all_anew;
	int in, out, pipe[2];
	FILE *in_file, *out_file;
	SCREEN *screen;
	WINDOW *keys; /* reading through a pad never refreshes the screen by itself */
	enum theme_kind theme;
	struct canvas_cell *shown; /* what the terminal shows */
	cchar_t *line;
	int w, h;
	struct {
		short fg, bg;
	} pairs[PAIRS_MAX];
	int npairs;
	uint64_t press_ns;
	int press_x, press_y;
	int deaf;
	struct sigaction old_wake[WAKES], old_crash[CRASHES], old_alarm;
} term = {.in = -1, .out = -1, .pipe = {-1, -1}};

/* What signal handlers use: written before they are installed. */
static struct {
	atomic_bool armed;
	int fd, wake;
	struct termios modes;
	char text[RESTORE_SIZE];
	size_t len;
} restore;
static volatile sig_atomic_t resize_wanted, stop_wanted, cont_seen, end_wanted;

static void write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n <= 0)
			return;
		text += n;
		len -= (size_t)n;
	}
}

static void on_wake(int sig)
{
	int saved = errno;

	switch (sig) {
	case SIGWINCH: resize_wanted = 1; break;
	case SIGTSTP: stop_wanted = 1; break;
	case SIGCONT: cont_seen = 1; break;
	default: end_wanted = 1; alarm(END_WAIT_S);
	}
	if (write(restore.wake, "", 1) < 0) { /* full: it wakes anyway */
	}
	errno = saved;
}

/* Asked to end, and the terminal takes no more output (a dead line, say): end without it. */
static void on_stuck(int sig)
{
	int flags = fcntl(restore.fd, F_GETFL);

	(void)sig;
	tcflush(restore.fd, TCOFLUSH);
	if (atomic_exchange(&restore.armed, false) && flags >= 0 &&
	    fcntl(restore.fd, F_SETFL, flags | O_NONBLOCK) == 0) {
		write_all(restore.fd, restore.text, restore.len);
		fcntl(restore.fd, F_SETFL, flags);
	}
	tcsetattr(restore.fd, TCSANOW, &restore.modes);
	_exit(1);
}

/*
 * Put the terminal back, then let the signal do what it would have done. The guard of mapped files
 * is installed in front of this one for SIGBUS, so what arrives here is a crash.
 */
static void on_crash(int sig, siginfo_t *info, void *context)
{
	static const char last_words[] = "altpttop: crashed; the terminal was put back\n";
	struct sigaction *old = NULL, fallback = {.sa_handler = SIG_DFL};

	(void)context;
	for (size_t i = 0; i < CRASHES; i++)
		if (crash_signals[i] == sig)
			old = &term.old_crash[i];
	if (atomic_exchange(&restore.armed, false)) {
		write_all(restore.fd, restore.text, restore.len);
		tcsetattr(restore.fd, TCSANOW, &restore.modes);
		write_all(STDERR_FILENO, last_words, sizeof last_words - 1);
	}
	sigaction(sig, old ? old : &fallback, NULL);
	if (info->si_code <= 0) /* sent, not caused: returning would lose it */
		raise(sig);
}

/* Append a terminfo string without its padding marks. */
static void restore_add(const char *capability)
{
	const char *s = capability[0] == '\033' ? capability : tigetstr((char *)capability);

	if (!s || s == (char *)-1)
		return;
	while (*s && restore.len < sizeof restore.text) {
		if (s[0] == '$' && s[1] == '<') {
			s += strcspn(s, ">");
			s += *s == '>';
			continue;
		}
		restore.text[restore.len++] = *s++;
	}
}

/* Other threads read mapped files meanwhile: their guards stay in front. */
static void crash_action(int sig, const struct sigaction *sa, struct sigaction *ret_old)
{
	if (sig == SIGBUS)
		guard_sigaction(sa, ret_old);
	else
		sigaction(sig, sa, ret_old);
}

static void signals_install(void)
{
	struct sigaction sa = {.sa_flags = SA_RESTART};

	sigfillset(&sa.sa_mask);
	sa.sa_handler = on_wake;
	for (size_t i = 0; i < WAKES; i++)
		sigaction(wake_signals[i], &sa, &term.old_wake[i]);
	sa.sa_handler = on_stuck;
	sigaction(SIGALRM, &sa, &term.old_alarm);
	altstack_use();
	sa.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
	sigemptyset(&sa.sa_mask);
	sa.sa_sigaction = on_crash;
	for (size_t i = 0; i < CRASHES; i++)
		crash_action(crash_signals[i], &sa, &term.old_crash[i]);
}

static void signals_remove(void)
{
	alarm(0);
	sigaction(SIGALRM, &term.old_alarm, NULL);
	for (size_t i = 0; i < WAKES; i++)
		sigaction(wake_signals[i], &term.old_wake[i], NULL);
	for (size_t i = 0; i < CRASHES; i++)
		crash_action(crash_signals[i], &term.old_crash[i], NULL);
}

static int size_arrays(void)
{
	size_t n = (size_t)COLS * (size_t)LINES;
	struct canvas_cell *shown = calloc(n ? n : 1, sizeof *shown);
	cchar_t *line = calloc((size_t)COLS + 1, sizeof *line);

	if (!shown || !line) {
		free(shown);
		free(line);
		return -ENOMEM;
	}
	free(term.shown);
	free(term.line);
	term.shown = shown;
	term.line = line;
	term.w = COLS;
	term.h = LINES;
	term.all_anew = true;
	return 0;
}

/* Is the terminal one that a screen can be drawn on? */
static int check_terminal(struct err *err)
{
	const char *name = getenv("TERM");
	int why = 0;

	if (!isatty(term.out))
		return err_set(err, ENOTTY, "standard output is no terminal: use --batch");
	if (!isatty(term.in))
		return err_set(err, ENOTTY, "there is no terminal to read keys from: use --batch");
	if (setupterm(NULL, term.out, &why) != OK)
		return err_set(
			err, ENOTTY,
			"the terminal type \"%.40s\" is not known here: set TERM, as in TERM=xterm",
			name ? name : "");
	if (!cursor_address || cursor_address == (char *)-1)
		return err_set(err, ENOTTY,
			       "a terminal of type \"%.40s\" cannot move its cursor: use --batch",
			       name);
	return 0;
}

static void modes_set(void)
{
	raw();
	noecho();
	nonl();
	curs_set(0);
	intrflush(stdscr, FALSE);
	leaveok(stdscr, TRUE);
	keypad(term.keys, TRUE);
	meta(term.keys, TRUE);
	nodelay(term.keys, TRUE);
	term_mouse(term.mouse);
}

static void restore_prepare(bool mouse)
{
	restore.fd = term.out;
	restore.wake = term.pipe[1];
	restore.len = 0;
	if (mouse)
		restore_add("\033[?1000l\033[?1002l\033[?1006l");
	restore_add("rmkx");
	restore_add("sgr0");
	restore_add("op");
	restore_add("cnorm");
	restore_add("rmcup");
}

int term_open(const struct term_config *config, struct err *err)
{
	int rc;

	setlocale(LC_CTYPE, "");
	term.ascii = config->ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	term.mouse = config->mouse;
	term.out = dup(STDOUT_FILENO); /* curses gets a stream of its own */
	term.in = isatty(STDIN_FILENO) ? dup(STDIN_FILENO) : open("/dev/tty", O_RDWR | O_CLOEXEC);
	rc = check_terminal(err);
	if (rc)
		goto out;
	if (pipe2(term.pipe, O_CLOEXEC | O_NONBLOCK) < 0 ||
	    tcgetattr(term.out, &restore.modes) < 0 || !(term.in_file = fdopen(term.in, "r")) ||
	    !(term.out_file = fdopen(term.out, "w"))) {
		rc = err_set(err, errno, "cannot set the terminal up: %s", strerror(errno));
		goto out;
	}
	set_escdelay(ESC_WAIT_MS);
	term.screen = newterm(NULL, term.out_file, term.in_file);
	term.keys = term.screen ? newpad(1, 1) : NULL;
	if (!term.keys || size_arrays()) {
		rc = err_set(err, ENOMEM, "cannot set the terminal up");
		goto out;
	}
	term.theme = THEME_MONO;
	term.npairs = 0;
	if (has_colors() && start_color() == OK && use_default_colors() == OK)
		term.theme = theme_choose(config->color, COLORS, getenv("NO_COLOR"),
					  getenv("COLORFGBG"));
	restore_prepare(config->mouse);
	atomic_store(&restore.armed, true);
	term.open = true;
	end_wanted = resize_wanted = stop_wanted = cont_seen = 0;
	signals_install();
	modes_set();
	atexit(term_close);
	return 0;
out:
	term.open = term.screen != NULL;
	term_close();
	return rc;
}

void term_close(void)
{
	if (term.screen) {
		endwin();
		if (term.keys)
			delwin(term.keys);
		delscreen(term.screen);
	}
	if (term.open && atomic_exchange(&restore.armed, false)) {
		tcsetattr(term.out, TCSANOW, &restore.modes);
		signals_remove();
	}
	if (term.in_file)
		fclose(term.in_file);
	else if (term.in >= 0)
		close(term.in);
	if (term.out_file)
		fclose(term.out_file);
	else if (term.out >= 0)
		close(term.out);
	for (int i = 0; i < 2; i++)
		if (term.pipe[i] >= 0)
			close(term.pipe[i]);
	free(term.shown);
	free(term.line);
	term.shown = NULL;
	term.line = NULL;
	term.screen = NULL;
	term.keys = NULL;
	term.in_file = term.out_file = NULL;
	term.in = term.out = term.pipe[0] = term.pipe[1] = -1;
	term.open = false;
}

int term_fd(void)
{
	return term.in;
}

int term_signal_fd(void)
{
	return term.pipe[0];
}

int term_width(void)
{
	return term.w;
}

int term_height(void)
{
	return term.h;
}

bool term_ascii(void)
{
	return term.ascii;
}

void term_mouse(bool on)
{
	mouseinterval(0);
	mousemask(on && term.mouse ? BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED : 0, NULL);
}

void term_redraw(void)
{
	term.all_anew = true;
}

static void take_size(void)
{
	struct winsize size;

	if (ioctl(term.out, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row &&
	    (size.ws_col != COLS || size.ws_row != LINES))
		resize_term(size.ws_row, size.ws_col);
	if (COLS != term.w || LINES != term.h)
		size_arrays();
	term.all_anew = true;
}

/* The shell may have changed everything while this process was stopped. */
static void come_back(void)
{
	cont_seen = 0;
	tcgetattr(term.out, &restore.modes);
	reset_prog_mode();
	refresh();
	modes_set();
	take_size();
}

void term_suspend(void)
{
	struct sigaction sa = {.sa_handler = SIG_DFL}, mine;

	stop_wanted = 0;
	def_prog_mode();
	endwin();
	tcsetattr(term.out, TCSANOW, &restore.modes);
	sigaction(SIGTSTP, &sa, &mine);
	gate_close(SUSPEND_WAIT_MS);
	raise(SIGTSTP);
	gate_open();
	sigaction(SIGTSTP, &mine, NULL);
	come_back();
}

static uint32_t special_key(int code)
{
	static const struct {
		int code;
		uint32_t key;
	} keys[] = {
		{KEY_UP, K_UP},         {KEY_DOWN, K_DOWN},           {KEY_LEFT, K_LEFT},
		{KEY_RIGHT, K_RIGHT},   {KEY_HOME, K_HOME},           {KEY_END, K_END},
		{KEY_PPAGE, K_PAGE_UP}, {KEY_NPAGE, K_PAGE_DOWN},     {KEY_IC, K_INSERT},
		{KEY_DC, K_DELETE},     {KEY_BACKSPACE, K_BACKSPACE}, {KEY_BTAB, K_BACK_TAB},
		{KEY_ENTER, K_ENTER},   {KEY_FIND, K_HOME},           {KEY_SELECT, K_END},
	};

	if (code >= KEY_F(1) && code <= KEY_F(12))
		return K_F1 + (uint32_t)(code - KEY_F(1));
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (keys[i].code == code)
			return keys[i].key;
	return K_NONE;
}

static struct term_event mouse_event(void)
{
	struct term_event ev = {.kind = TERM_MOUSE};
	MEVENT m;
	uint64_t now = clock_mono_ns();

	if (getmouse(&m) != OK)
		return (struct term_event){.kind = TERM_MOUSE, .button = BUTTON_NONE};
	ev.x = m.x;
	ev.y = m.y;
	if (m.bstate & BUTTON4_PRESSED) {
		ev.button = BUTTON_WHEEL_UP;
	} else if (m.bstate & BUTTON5_PRESSED) {
		ev.button = BUTTON_WHEEL_DOWN;
	} else if (m.bstate & BUTTON1_PRESSED) {
		bool twice = term.press_x == m.x && term.press_y == m.y && term.press_ns &&
			     now - term.press_ns < TWICE_NS;

		ev.button = twice ? BUTTON_LEFT_TWICE : BUTTON_LEFT;
		term.press_ns = twice ? 0 : now;
		term.press_x = m.x;
		term.press_y = m.y;
	}
	return ev;
}

static bool drain_signals(struct term_event *ret)
{
	char bytes[64];

	while (read(term.pipe[0], bytes, sizeof bytes) > 0)
		;
	if (end_wanted) {
		ret->kind = TERM_FINISHED;
		return true;
	}
	if (stop_wanted) {
		term_suspend();
	} else if (cont_seen) {
		come_back();
	} else if (resize_wanted) {
		resize_wanted = 0;
		take_size();
	} else {
		return false;
	}
	ret->kind = TERM_RESIZED;
	return true;
}

struct term_event term_next(void)
{
	struct term_event ev = {.kind = TERM_NOTHING};
	wint_t ch;
	int rc;

	if (drain_signals(&ev))
		return ev;
	rc = wget_wch(term.keys, &ch);
	if (rc == ERR) {
		struct pollfd in = {.fd = term.in, .events = POLLIN};

		term.deaf = poll(&in, 1, 0) > 0 ? term.deaf + 1 : 0;
		if (term.deaf > DEAF_READS)
			ev.kind = TERM_FINISHED;
		return ev;
	}
	term.deaf = 0;
	if (rc == KEY_CODE_YES && ch == KEY_MOUSE)
		return mouse_event();
	ev.kind = TERM_KEY;
	if (rc == KEY_CODE_YES)
		ev.key = special_key((int)ch);
	else if (ch == '\r' || ch == '\n')
		ev.key = K_ENTER;
	else if (ch == 27)
		ev.key = K_ESC;
	else if (ch == 127 || ch == 8)
		ev.key = K_BACKSPACE;
	else
		ev.key = (uint32_t)ch;
	return ev;
}

static short pair_of(struct paint p)
{
	if (p.fg == PAINT_DEFAULT && p.bg == PAINT_DEFAULT)
		return 0;
	for (int i = 0; i < term.npairs; i++)
		if (term.pairs[i].fg == p.fg && term.pairs[i].bg == p.bg)
			return (short)(i + 1);
	if (term.npairs >= PAIRS_MAX || term.npairs + 2 > COLOR_PAIRS ||
	    init_pair((short)(term.npairs + 1), p.fg, p.bg) == ERR)
		return 0;
	term.pairs[term.npairs].fg = p.fg;
	term.pairs[term.npairs].bg = p.bg;
	return (short)++term.npairs;
}

static void to_curses(cchar_t *ret, const struct canvas_cell *cell)
{
	static const struct {
		unsigned flag;
		attr_t attr;
	} flags[] = {{PAINT_BOLD, A_BOLD},
		     {PAINT_DIM, A_DIM},
		     {PAINT_UNDERLINE, A_UNDERLINE},
		     {PAINT_REVERSE, A_REVERSE}};
	struct paint p = theme_paint(term.theme, cell->pen);
	wchar_t text[2 + CELL_MARKS] = {(wchar_t)cell->ch};
	attr_t attr = 0;

	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if (p.flags & flags[i].flag)
			attr |= flags[i].attr;
	for (int i = 0; i < CELL_MARKS; i++)
		text[1 + i] = (wchar_t)cell->mark[i];
	if (setcchar(ret, text, attr, pair_of(p), NULL) == ERR) {
		text[0] = L'?';
		text[1] = L'\0';
		setcchar(ret, text, attr, pair_of(p), NULL);
	}
}

void term_show(const struct canvas *canvas)
{
	int w = canvas->w < term.w ? canvas->w : term.w,
	    h = canvas->h < term.h ? canvas->h : term.h;

	if (!atomic_load(&restore.armed)) /* put back: another thread crashed */
		return;
	if (term.all_anew) {
		clearok(curscr, TRUE);
		erase();
	}
	for (int y = 0; y < h; y++) {
		const struct canvas_cell *row = canvas_at(canvas, 0, y);
		struct canvas_cell *old = term.shown + (size_t)y * (size_t)term.w;
		int n = 0;

		if (!term.all_anew && !memcmp(row, old, sizeof *row * (size_t)w))
			continue;
		memcpy(old, row, sizeof *row * (size_t)w);
		for (int x = 0; x < w; x++)
			if (row[x].width)
				to_curses(&term.line[n++], &row[x]);
		mvadd_wchnstr(y, 0, term.line, n);
	}
	term.all_anew = false;
	refresh();
}
