#pragma once

// A thread runs the engine's work for one connection, at a lower priority than the other threads of the process.
typedef struct thread thread;

// thread_open starts a thread whose priority is lower by this many steps, or returns NULL if it cannot.
thread *thread_open(int steps);
void thread_close(thread *l);

// thread_set_priority lowers the priority by this many steps from now on, even while the thread works.
void thread_set_priority(thread *l, int steps);

// thread_cpu_time returns the processor time of the thread in nanoseconds.
long long thread_cpu_time(thread *l);

// These call the engine's functions on the thread; if it is NULL, on the caller's. The threads of an engine that is started
// on a thread inherit its priority.
int thread_start(thread *l, void *config, void **database, char **error);
int thread_prepare(thread *l, void *connection, const char *text, void **statement);
int thread_execute(thread *l, void *statement, void *result, char **error);
