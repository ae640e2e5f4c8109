#include "net/process.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

char
gv_process_state(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char line[128] = "", *end;

	if (fd == -1)
		return 0;
	if (read(fd, line, sizeof(line) - 1) < 0)
		line[0] = '\0';
	close(fd);
	/* "4711 (name) R": a name may hold anything */
	end = strrchr(line, ')');
	return end != NULL && end[1] == ' ' ? end[2] : (char)0;
}
