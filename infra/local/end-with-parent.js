/**
 * Ends this process, as a signal would, when the shell that npm started it by has ended. Most shells pass no signal on,
 * and `exec`, which would make that unnecessary, is no command on Windows.
 */
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM');
}, 200).unref();
