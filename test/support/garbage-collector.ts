import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The one of `--expose-gc`, in a process that was started without it. */
export function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}
