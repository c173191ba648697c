import { test } from 'vitest';
import { emulatorLimits } from './emulator-limits.ts';

/** A test of the black-box suite; skipped, with the reason in its title, where the emulator is known not to be able to. */
export function httpCase(title: string, body: () => Promise<void>, timeoutMs?: number): void {
  const limit = emulatorLimit(title);
  if (limit) test.skip(`${title} (the emulator: ${limit})`, body);
  else test(title, body, timeoutMs);
}

/** The reason, where the deployment under test is the rehearsal's and not a real one. */
export function emulatorLimit(title: string): string | undefined {
  return process.env.DORMOUSE_TEST_EMULATOR === '1' ? emulatorLimits[title] : undefined;
}
