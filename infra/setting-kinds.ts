/** Requests a second, and how many above that at once, for the whole API. */
export interface Throttle {
  readonly rateLimit: number;
  readonly burstLimit: number;
}

/** How one kind of setting is read. `parse` resolves undefined for what it cannot read; `expected` says what it can. */
export interface Kind<T> {
  readonly parse: (value: unknown) => T | undefined;
  readonly expected: string;
}

export function word(pattern: RegExp, expected: string): Kind<string> {
  return {
    parse: (value) => (typeof value === 'string' && pattern.test(value) ? value : undefined),
    expected,
  };
}

export function oneOf<const T extends string>(...words: readonly T[]): Kind<T> {
  return {
    parse: (value) => words.find((candidate) => candidate === value),
    expected: words.map((candidate) => `'${candidate}'`).join(' or '),
  };
}

export const flag: Kind<boolean> = {
  parse: (value) => {
    if (value === true || value === 'true') return true;
    return value === false || value === 'false' ? false : undefined;
  },
  expected: 'true or false',
};

export const emailAddress = word(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'an email address');

export const httpsUrl: Kind<string> = {
  parse: (value) => (isUrl(value, ['https:']) ? value : undefined),
  expected: 'an https URL',
};

export const audiences: Kind<readonly string[]> = {
  parse: (value) => listOf(value, (item) => item.trim() !== ''),
  expected: 'a name or a list of names',
};

export const origins: Kind<readonly string[]> = {
  parse: (value) => listOf(value, (item) => item === '*' || isOrigin(item)),
  expected: "'*' or a list of origins such as https://app.example.com, without a path",
};

export const throttling: Kind<Throttle> = {
  parse: (value) => {
    const { rateLimit, burstLimit } = (fromJson(value) ?? {}) as Record<string, unknown>;
    return isPositive(rateLimit) && isPositive(burstLimit) && Number.isInteger(burstLimit)
      ? { rateLimit, burstLimit }
      : undefined;
  },
  expected: '{ "rateLimit": requests a second, "burstLimit": a whole number }, both above 0',
};

/** A scope's name by what it allows. */
export type Scopes = Readonly<Partial<Record<'read' | 'write' | 'run', string>>>;

export const scopes: Kind<Scopes> = {
  parse: (value) => {
    const given = fromJson(value);
    if (typeof given !== 'object' || given === null || Array.isArray(given)) return undefined;
    const isScope = ([name, scope]: [string, unknown]) =>
      ['read', 'write', 'run'].includes(name) && typeof scope === 'string' && /^\S+$/.test(scope);
    return Object.entries(given).every(isScope) ? (given as Scopes) : undefined;
  },
  expected: '{ "read": scope, "write": scope, "run": scope }, any of them left out',
};

export function wholeNumber(min: number, max: number): Kind<number> {
  return {
    parse: (value) => {
      const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
      return Number.isInteger(number) && Number(number) >= min && Number(number) <= max
        ? Number(number)
        : undefined;
    },
    expected: `a whole number from ${min} to ${max}`,
  };
}

/** In the CDK context, or as JSON on the command line. */
export const anObject: Kind<Readonly<Record<string, unknown>>> = {
  parse: (value) => {
    const given = fromJson(value);
    return typeof given === 'object' && given !== null && !Array.isArray(given)
      ? (given as Record<string, unknown>)
      : undefined;
  },
  expected: 'an object, or JSON of one',
};

/** A list of the CDK context, or one of the command line: JSON, or parted by commas. */
export function listOf(value: unknown, accepts: (item: string) => boolean): readonly string[] | undefined {
  const given = fromJson(value) ?? (typeof value === 'string' ? value.split(',') : undefined);
  const items = Array.isArray(given) ? given : [];
  const isValid = items.length > 0 && items.every((item) => typeof item === 'string' && accepts(item));
  return isValid ? items : undefined;
}

function fromJson(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === 'object' ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function isPositive(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0;
}

function isUrl(value: unknown, protocols: readonly string[]): value is string {
  return typeof value === 'string' && URL.canParse(value) && protocols.includes(new URL(value).protocol);
}

function isOrigin(value: string): boolean {
  return isUrl(value, ['https:', 'http:']) && new URL(value).origin === value;
}
