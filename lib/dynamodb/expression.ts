import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/**
 * Collects the names and values of one request's expressions, so that each stands once and reserved words
 * (`format`, `ttl`, `bytes`, …) never meet the parser.
 */
export class ExpressionParts {
  readonly #names = new Map<string, string>();
  readonly #values = new Map<string, AttributeValue>();

  /** The placeholder of an attribute name. */
  name(attribute: string): string {
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
