import { messageOf } from '../../lib/message-of.ts';

/** Says what is done as it is done, and keeps count. */
export class Report {
  readonly #seconds: [string, number][] = [];
  #passed = 0;
  #failed = 0;

  get failed(): number {
    return this.#failed;
  }

  /** Runs a step and says how long it took. A step that throws has failed, and throws on. */
  async step<T>(title: string, work: () => Promise<T>): Promise<T> {
    console.log(`\n== ${title}`);
    const startedAt = performance.now();
    try {
      return await work();
    } catch (error) {
      this.check(title, false, messageOf(error));
      throw new StepError(title, { cause: error });
    } finally {
      const seconds = (performance.now() - startedAt) / 1000;
      this.#seconds.push([title, seconds]);
      console.log(`   ${seconds.toFixed(1)} s`);
    }
  }

  check(what: string, holds: boolean, otherwise = ''): void {
    if (holds) this.#passed++;
    else this.#failed++;
    console.log(`   ${holds ? 'ok  ' : 'FAIL'} ${what}${holds || otherwise === '' ? '' : `: ${otherwise}`}`);
  }

  /** Checks that somebody else made and printed. */
  count(passed: number, failed: number): void {
    this.#passed += passed;
    this.#failed += failed;
  }

  summary(): string {
    const width = Math.max(...this.#seconds.map(([title]) => title.length));
    const total = this.#seconds.reduce((sum, [, seconds]) => sum + seconds, 0);
    const lines = [...this.#seconds, ['altogether', total] as const].map(
      ([title, seconds]) => `${title.padEnd(width)} ${seconds.toFixed(1).padStart(6)} s`,
    );
    return [...lines, '', `rehearsal: ${this.#passed} checks passed, ${this.#failed} failed`].join('\n');
  }
}

/** A step that has been reported already. */
export class StepError extends Error {}

/** Rows in columns, the first row as the heading. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_cell, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `   ${line}`)
    .join('\n');
}
