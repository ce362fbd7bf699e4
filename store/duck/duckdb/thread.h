#pragma once

// A thread is a thread of its own, behind the other threads of the process, on which the engine works for one connection.
typedef struct thread thread;

// thread_open starts a thread that gives way by so many steps, or returns NULL when there is none to be had.
thread *thread_open(int steps);
void thread_close(thread *l);

// thread_give_way puts the thread behind by so many steps from now on, also while it works.
void thread_give_way(thread *l, int steps);

// thread_worked is for how many nanoseconds the thread has had a processor.
long long thread_worked(thread *l);

// These are the engine's functions, called in the thread; without one they are called at once. The threads of an engine
// that is started in a thread are behind the others, too.
int thread_start(thread *l, void *config, void **database, char **error);
int thread_prepare(thread *l, void *connection, const char *text, void **statement);
int thread_execute(thread *l, void *statement, void *result, char **error);
