import { vi } from 'vitest';

/** What the handlers log from now on, line by line. Powertools has a console of its own, over the process's streams. */
export function capturedLog(): string[] {
  const lines: string[] = [];
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((line) => Boolean(lines.push(String(line))));
  }
  return lines;
}
