import { setTimeout as pause } from 'node:timers/promises';

/** Talks to the server of the demo as any caller would, and stops the demo where something does not hold. */
export class DemoClient {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  call(method: string, path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.#url}${path}`, { method, ...init });
  }

  /** Sends JSON, and answers what came back as JSON. */
  async send<T>(method: string, path: string, value?: unknown): Promise<T> {
    const body = value === undefined ? {} : { body: JSON.stringify(value) };
    const response = await this.call(method, path, {
      headers: { 'content-type': 'application/json' },
      ...body,
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} was answered with ${response.status}: ${text}`);
    return JSON.parse(text);
  }

  /** Asks again and again until the answer is as wanted: a run goes on by itself. */
  async until<T>(path: string, isThere: (answer: T) => boolean): Promise<T> {
    for (let asked = 0; asked < 1000; asked++) {
      const answer = await this.send<T>('GET', path);
      if (isThere(answer)) return answer;
      await pause(10);
    }
    throw new Error(`${path} never came to what it should`);
  }
}

export function assert(held: boolean, what: string): void {
  if (!held) throw new Error(`this did not hold: ${what}`);
  console.log(`ok  ${what}`);
}
