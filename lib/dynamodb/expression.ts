import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/** The attributes of our items whose names are reserved words of DynamoDB: only they need a placeholder. */
const reserved = new Set(['ttl', 'sets']);

/** Collects the names and values of one request's expressions. */
export class ExpressionParts {
  readonly #names = new Map<string, string>();
  readonly #values = new Map<string, AttributeValue>();

  /** An attribute's name as an expression may hold it. */
  name(attribute: string): string {
    if (!reserved.has(attribute)) return attribute;
    this.#names.set(`#${attribute}`, attribute);
    return `#${attribute}`;
  }

  /** A placeholder for a value. */
  value(value: AttributeValue): string {
    const placeholder = `:v${this.#values.size}`;
    this.#values.set(placeholder, value);
    return placeholder;
  }

  /** Absent where empty: DynamoDB refuses an empty map. */
  get attributes(): {
    ExpressionAttributeNames?: Record<string, string>;
    ExpressionAttributeValues?: Record<string, AttributeValue>;
  } {
    return {
      ...(this.#names.size > 0 && { ExpressionAttributeNames: Object.fromEntries(this.#names) }),
      ...(this.#values.size > 0 && { ExpressionAttributeValues: Object.fromEntries(this.#values) }),
    };
  }
}
