#pragma once

// A lane is a thread of its own, behind the other threads of the process, on which the engine works for one connection.
typedef struct lane lane;

// lane_open starts a thread that gives way by so many steps, or returns NULL when there is none to be had.
lane *lane_open(int steps);
void lane_close(lane *l);

// lane_give_way puts the thread behind by so many steps from now on, also while it works.
void lane_give_way(lane *l, int steps);

// lane_worked is for how many nanoseconds the thread has had a processor.
long long lane_worked(lane *l);

// These are the engine's functions, called in the lane; without one they are called at once. The threads of an engine
// that is started in a lane are behind the others, too.
int lane_start(lane *l, void *config, void **database, char **error);
int lane_prepare(lane *l, void *connection, const char *text, void **statement);
int lane_execute(lane *l, void *statement, void *result, char **error);
