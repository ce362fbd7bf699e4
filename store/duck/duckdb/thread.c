// Go code must not run on a thread of low priority: there it holds one of the few processors (Ps) of the Go scheduler, and
// while the system keeps the thread waiting, no goroutine can use that processor; the garbage collector waits for it, too.
// So the thread is a C thread and runs only the engine; its callers wait on ordinary threads.

#define _GNU_SOURCE

#include "thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __linux__
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

// The parts of the engine's interface that are used here.
extern int duckdb_open_ext(const char *path, void **database, void *config, char **error);
extern int duckdb_prepare(void *connection, const char *text, void **statement);
extern int duckdb_pending_prepared(void *statement, void **pending);
extern int duckdb_pending_execute_task(void *pending);
extern const char *duckdb_pending_error(void *pending);
extern int duckdb_execute_pending(void *pending, void *result);
extern void duckdb_destroy_pending(void **pending);

// States of duckdb_pending_execute_task.
enum { ready, not_ready, failure, no_tasks };

// work is a call to the engine.
typedef struct work {
	int (*call)(struct work *);
	void *of;         // a configuration, a connection, a statement
	const char *text; // of a statement
	void **made;      // a database, a statement
	char **error;
	void *result;
	int state;
} work;

static int start(work *w) { return duckdb_open_ext(":memory:", w->made, w->of, w->error); }

static int prepare(work *w) { return duckdb_prepare(w->of, w->text, w->made); }

// execute runs a statement to its end. duckdb_execute_prepared polls without a pause while other threads finish the last
// tasks, and competes with them for the processor; this sleeps between polls.
static int execute(work *w) {
	void *pending = NULL;
	int failed = duckdb_pending_prepared(w->of, &pending);
	for (int next = not_ready; !failed && next != ready;) {
		next = duckdb_pending_execute_task(pending);
		if (next == no_tasks)
			nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
		failed = next == failure;
	}
	if (failed) {
		const char *why = duckdb_pending_error(pending);
		*w->error = strdup(why ? why : "the engine gave no reason");
	} else {
		failed = duckdb_execute_pending(pending, w->result);
	}
	duckdb_destroy_pending(&pending);
	return failed;
}

struct thread {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	work *next; // NULL: nothing to do
	bool ended;
	int steps;
	int id; // of the thread in the system; 0 until it runs
};

// set_priority lowers the priority of a thread. On other systems it would affect the whole process.
static void set_priority(int id, int steps) {
#ifdef __linux__
	if (id != 0)
		setpriority(PRIO_PROCESS, (id_t)id, steps);
#else
	(void)id;
	(void)steps;
#endif
}

static int this_thread(void) {
#ifdef __linux__
	return (int)syscall(SYS_gettid);
#else
	return 0;
#endif
}

static void *run(void *arg) {
	thread *l = arg;
	pthread_mutex_lock(&l->lock);
	l->id = this_thread();
	set_priority(l->id, l->steps);
	for (;;) {
		while (!l->next && !l->ended)
			pthread_cond_wait(&l->changed, &l->lock);
		if (!l->next)
			break;
		pthread_mutex_unlock(&l->lock);
		l->next->state = l->next->call(l->next);
		pthread_mutex_lock(&l->lock);
		l->next = NULL;
		pthread_cond_broadcast(&l->changed);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

thread *thread_open(int steps) {
	thread *l = calloc(1, sizeof *l);
	if (!l)
		return NULL;
	l->steps = steps;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->changed, NULL);
	sigset_t all, before; // signals must go to the threads of Go
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int failed = pthread_create(&l->thread, NULL, run, l);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed) {
		free(l);
		return NULL;
	}
	return l;
}

void thread_close(thread *l) {
	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	l->ended = true;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
	pthread_join(l->thread, NULL);
	pthread_cond_destroy(&l->changed);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

void thread_set_priority(thread *l, int steps) {
	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	l->steps = steps; // in case the thread has not started yet
	set_priority(l->id, steps);
	pthread_mutex_unlock(&l->lock);
}

long long thread_cpu_time(thread *l) {
	clockid_t clock;
	struct timespec t = {0};
	if (!l || pthread_getcpuclockid(l->thread, &clock) || clock_gettime(clock, &t))
		return 0;
	return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int submit(thread *l, work *w) {
	if (!l)
		return w->call(w);
	pthread_mutex_lock(&l->lock);
	l->next = w;
	pthread_cond_broadcast(&l->changed);
	while (l->next == w)
		pthread_cond_wait(&l->changed, &l->lock);
	pthread_mutex_unlock(&l->lock);
	return w->state;
}

int thread_start(thread *l, void *config, void **database, char **error) {
	return submit(l, &(work){.call = start, .of = config, .made = database, .error = error});
}

int thread_prepare(thread *l, void *connection, const char *text, void **statement) {
	return submit(l, &(work){.call = prepare, .of = connection, .text = text, .made = statement});
}

int thread_execute(thread *l, void *statement, void *result, char **error) {
	return submit(l, &(work){.call = execute, .of = statement, .result = result, .error = error});
}
