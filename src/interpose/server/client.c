/* The compiled client: what client.py does, in a program that starts in half a millisecond. INTERPOSE_PYTHON and
   INTERPOSE_CLIENT are the interpreter and the directory of client.py; the build defines them. Whatever this program
   cannot do itself, it leaves to `interpose fire`: then nothing was fired yet. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define LONGEST (24u * 1024 * 1024)
#define SILENCE 5

extern char **environ;
static char **arguments, *input, *request;
static size_t input_size, input_room, request_size, request_room;
static int refused = 2; /* the exit status of a refusal; 1 at an event where 2 keeps an agent going */
static int is_hook;

static int write_all(int descriptor, const char *data, size_t size) {
  while (size) {
    ssize_t done = write(descriptor, data, size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return -1;
    data += done, size -= (size_t)done;
  }
  return 0;
}

static int refuse(const char *why) {
  dprintf(2, "interpose fire: %s (nothing was decided, so this denies)\n", why);
  return refused;
}

/* Become `interpose fire`; what was read from standard input is there again. */
static int cold(int count) {
  if (input_size) {
    char part[65536], path[] = "/tmp/interpose-XXXXXX";
    ssize_t more;
#ifdef __linux__
    int copy = memfd_create("interpose", 0);
    (void)path;
#else
    int copy = mkstemp(path);
    if (copy >= 0) unlink(path);
#endif
    if (copy < 0 || write_all(copy, input, input_size)) return refuse("standard input cannot be kept");
    while ((more = read(0, part, sizeof part)) > 0)
      if (write_all(copy, part, (size_t)more)) return refuse("standard input cannot be kept");
    if (lseek(copy, 0, SEEK_SET) || dup2(copy, 0)) return refuse("standard input cannot be kept");
  }
  char **words = calloc((size_t)count + 6, sizeof *words);
  if (!words) return refuse("no memory");
  /* As a hook without PYTHON... variables: settings of a project may have set them. */
  char *first[] = {INTERPOSE_PYTHON, is_hook ? "-EP" : "-P", "-m", "interpose.cli", "fire"};
  memcpy(words, first, sizeof first);
  memcpy(words + 5, arguments, (size_t)count * sizeof *words);
  execv(INTERPOSE_PYTHON, words);
  return refuse(INTERPOSE_PYTHON " cannot be started");
}

static int put(char **data, size_t *size, size_t *room, const void *more, size_t length) {
  if (*size + length > *room) {
    size_t larger = (*size + length) * 2;
    char *moved = realloc(*data, larger);
    if (!moved) return -1;
    *data = moved, *room = larger;
  }
  memcpy(*data + *size, more, length);
  *size += length;
  return 0;
}

static void number(unsigned char *at, size_t value) {
  at[0] = (unsigned char)(value >> 24), at[1] = (unsigned char)(value >> 16);
  at[2] = (unsigned char)(value >> 8), at[3] = (unsigned char)value;
}

static size_t value_of(const char *text) {
  const unsigned char *at = (const unsigned char *)text;
  return (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
}

static int add(const void *data, size_t length) {
  return put(&request, &request_size, &request_room, data, length);
}

/* Add the length of a part, whose bytes begin at `from`. */
static void close_part(size_t from) { number((unsigned char *)request + from - 4, request_size - from); }

static int add_words(char **words, int count) {
  size_t from = request_size + 4;
  int wrong = add("\0\0\0\0", 4);
  for (int i = 0; count < 0 ? words[i] != NULL : i < count; i++)
    wrong |= (i ? add("", 1) : 0) | add(words[i], strlen(words[i]));
  if (!wrong) close_part(from);
  return wrong;
}

static int add_part(const void *data, size_t length) {
  unsigned char size[4];
  number(size, length);
  return add(size, 4) | add(data, length);
}

static int is_own(const char *path, mode_t kind) {
  struct stat found;
  return !lstat(path, &found) && found.st_uid == geteuid() && (found.st_mode & 0170077) == kind;
}

static struct sockaddr_un address = {.sun_family = AF_UNIX};

/* Set the address of the engine of this user; -1 if there is none, or it may be another's. */
static int find_engine(void) {
  const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  char folder[256];
  int size, length = home ? (int)strlen(home) : 0;
  while (length && home[length - 1] == '/') length--;
  if (base && base[0] == '/') size = snprintf(folder, sizeof folder, "%s/interpose/serve", base);
  else size = snprintf(folder, sizeof folder, "%.*s/.local/state/interpose/serve", length, home ? home : "");
  if (size > 96 || folder[0] != '/') return -1;
  memcpy(address.sun_path, folder, (size_t)size);
  memcpy(address.sun_path + size, "/socket", sizeof "/socket");
  return is_own(folder, S_IFDIR) && is_own(address.sun_path, S_IFSOCK) ? 0 : -1;
}

/* Return a connection to the engine; -1 if there is none. The request is ready by then: the engine finds it when it
   looks at the connection for the first time. */
static int connected(void) {
  struct timeval silence = {SILENCE, 0};
  int server = socket(AF_UNIX, SOCK_STREAM, 0);
  if (server < 0) return -1;
  fcntl(server, F_SETFD, FD_CLOEXEC);
  setsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof silence);
  setsockopt(server, SOL_SOCKET, SO_SNDTIMEO, &silence, sizeof silence);
  if (!connect(server, (struct sockaddr *)&address, sizeof address)) {
#ifdef SO_PEERCRED
    struct ucred peer;
    socklen_t room = sizeof peer;
    if (!getsockopt(server, SOL_SOCKET, SO_PEERCRED, &peer, &room) && peer.uid == geteuid()) return server;
#else
    uid_t user;
    gid_t group;
    if (!getpeereid(server, &user, &group) && user == geteuid()) return server;
#endif
  }
  close(server);
  return -1;
}

static int make_request(int count) {
  char about[80], where[4096];
  mode_t mask = umask(077);
  umask(mask);
  if (!getcwd(where, sizeof where)) return -1;
  const char *slash = strrchr(INTERPOSE_PYTHON, '/');
  size_t from = 12;
  if (add("IPF1\0\0\0\0\0\0\0\0", 12) | add(INTERPOSE_PYTHON, (size_t)(slash - INTERPOSE_PYTHON)) |
      add("\0" INTERPOSE_CLIENT, sizeof INTERPOSE_CLIENT))
    return -1;
  close_part(from);
  snprintf(about, sizeof about, "%ld %ld %ld", (long)getpid(), (long)getppid(), (long)mask);
  if (add_part(about, strlen(about)) | add_part(where, strlen(where)) | add_words(arguments, count) |
      add_words(environ, -1) | add_part(input, input_size))
    return -1;
  number((unsigned char *)request + 4, request_size - 8);
  return 0;
}

/* Return the exit status; -1 if the engine has not accepted the request, which then was not fired. */
static int ask(int server) {
  char *got = NULL, part[65536];
  size_t size = 0, room = 0, at = 0;
  int accepted = 0, broken = 0;
  const char *data = request;
  while (request_size && !broken) {
    ssize_t done = send(server, data, request_size, MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) broken = 1;
    else data += done, request_size -= (size_t)done;
  }
  for (;;) {
    if (!accepted && size && got[0] == 'A') accepted = 1, at = 1;
    while (accepted && at < size && got[at] == '.') at++;
    if (size >= at + 5 && size - at - 5 >= value_of(got + at + 1)) break;
    ssize_t more = recv(server, part, sizeof part, 0);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0 || put(&got, &size, &room, part, (size_t)more)) {
      if (!accepted) {
        shutdown(server, SHUT_RDWR); /* from here on the engine cannot accept it */
        accepted = recv(server, part, 1, 0) == 1 && part[0] == 'A';
      }
      close(server);
      return accepted ? refuse("the resident engine accepted the event and did not answer") : -1;
    }
  }
  size_t length = value_of(got + at + 1);
  char kind = got[at], *text = got + at + 5;
  if (kind == 'D') return close(server), -1;
  if (kind != '=') {
    dprintf(2, "interpose fire: %.*s\n", (int)length, text);
    return is_hook ? refused : 1;
  }
  if (length < 5 || value_of(text + 1) > length - 5) return refuse("the answer cannot be read");
  int status = (unsigned char)text[0], problem = 0;
  size_t output = value_of(text + 1);
  signal(SIGPIPE, SIG_IGN); /* a status that says so, not a death that hosts read as no objection */
  if (write_all(1, text + 5, output)) problem = errno;
  write_all(2, text + 5 + output, length - 5 - output);
  if (problem && (is_hook || problem != EPIPE)) {
    dprintf(2, "interpose: standard output cannot be written: %s\n", strerror(problem));
    return is_hook ? refused : status ? status : 1;
  }
  return status;
}

/* Have the system end this process soon after its deadline, also if it is `interpose fire` by then. */
static void set_alarm(const char *text) {
  double seconds = strtod(text, NULL), end = seconds + (seconds < 25 ? seconds * 0.2 : 5);
  if (!(seconds > 0 && seconds < 1e6)) return; /* `interpose fire` says what is wrong with it */
  struct itimerval timer = {.it_value = {(time_t)end, (suseconds_t)((end - (double)(time_t)end) * 1e6)}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

/* Whether the status 2 keeps an agent going at an event. */
static int keeps_going(const char *word) {
  const char *events[] = {"Stop", "SubagentStop", "TeammateIdle", "AfterAgent", "agentStop", "subagentStop", "stop"};
  for (size_t i = 0; i < sizeof events / sizeof *events; i++)
    if (!strcmp(word, events[i])) return 1;
  return 0;
}

int main(int count, char **given) {
  int server, asks = 0;
  const char *source = "", *deadline = "";
  struct stat found;
  arguments = given + 1, count--;
  for (int i = 0; i < count; i++) {
    const char *word = arguments[i];
    if (keeps_going(word)) refused = 1;
    if (!strcmp(word, "-h") || !strcmp(word, "--help")) asks = 1;
    if (!strcmp(word, "--reply") || !strncmp(word, "--reply=", 8)) is_hook = 1;
    if (!strcmp(word, "--input") && i + 1 < count) source = arguments[i + 1];
    else if (!strncmp(word, "--input=", 8)) source = word + 8;
    if (!strcmp(word, "--deadline") && i + 1 < count) deadline = arguments[i + 1];
    else if (!strncmp(word, "--deadline=", 11)) deadline = word + 11;
  }
  if (is_hook) set_alarm(deadline);
  if (is_hook && !*source) source = "-";
  if (asks || isatty(0) || isatty(1) || isatty(2) || fstat(1, &found)) return cold(count);
  if (find_engine()) return cold(count);
  if (!strcmp(source, "-")) {
    char part[65536];
    ssize_t more;
    while (input_size <= LONGEST && (more = read(0, part, sizeof part)) != 0) {
      if (more < 0 && errno == EINTR) continue;
      if (more < 0) return cold(count);
      if (put(&input, &input_size, &input_room, part, (size_t)more)) return refuse("no memory");
    }
  }
  if (make_request(count) || request_size > LONGEST + 8) return cold(count);
  if ((server = connected()) < 0) return cold(count);
  int status = ask(server);
  return status < 0 ? cold(count) : status;
}
