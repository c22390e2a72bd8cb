import Type from 'typebox';
import { idType, orNull, textType, timeType } from '../kit/wire-types.ts';

const nameLengthMax = 200;
const phoneLengthMax = 32;
const chatNumbersMax = 10;

const nameType = textType('What the counter is called, shown to payers and on the poster.', nameLengthMax);

const chatNumbersType = Type.Array(Type.String({ minLength: 1, maxLength: phoneLengthMax }), {
  minItems: 1,
  maxItems: chatNumbersMax,
  description: 'Who is told of each payment: Gambian numbers in any usual form, foreign ones with +; each once.',
  examples: [['7012345', '+221 77 123 45 67']],
});

export const newTerminalSchema = Type.Object(
  { name: nameType, chat_numbers: chatNumbersType },
  { additionalProperties: false },
);

export const terminalChangeSchema = Type.Object(
  {
    name: Type.Optional(nameType),
    chat_numbers: Type.Optional(chatNumbersType),
    active: Type.Optional(Type.Boolean({ description: 'False switches it off: its page says so and takes no money.' })),
  },
  { additionalProperties: false },
);

const chatDeliverySchema = Type.Object(
  {
    number: Type.String({ description: 'As it stands in `chat_numbers`.' }),
    status: orNull(Type.String({ description: 'How the newest message fared; null before the first one.' })),
    updatedAt: orNull(timeType('When that became known.')),
    failure: orNull(Type.String({ description: 'Why it did not arrive.' })),
  },
  { title: 'ChatDelivery' },
);

export const terminalSchema = Type.Object(
  {
    id: idType('The terminal.'),
    name: Type.String(),
    code: Type.String({ description: 'Seven digits, for payers who type it.', examples: ['4718205'] }),
    qr_code_url: Type.String({ description: 'What the QR code holds: the counter’s page.' }),
    poster_url: Type.String({ description: 'The poster to print; needs your key.' }),
    chat_numbers: Type.Array(Type.String(), { description: 'As they were sent.' }),
    chat_delivery: Type.Array(chatDeliverySchema, { description: 'The newest message to each number.' }),
    active: Type.Boolean({ description: 'False while it is off.' }),
    test_mode: Type.Boolean(),
    createdAt: timeType('When it was created.'),
    updatedAt: timeType('When it last changed.'),
  },
  { title: 'VirtualTerminal' },
);
