import Type from 'typebox';
import { idType, orNull, textType, timeType } from '../api/wire-types.ts';

const nameLengthMax = 200;
const phoneLengthMax = 32;
const chatNumbersMax = 10;

const nameType = textType('The name of the counter, shown to payers and on the poster.', nameLengthMax);

const chatNumbersType = Type.Array(Type.String({ minLength: 1, maxLength: phoneLengthMax }), {
  minItems: 1,
  maxItems: chatNumbersMax,
  description:
    'The numbers that receive a message about each payment: Gambian in any usual form, foreign with +; each once.',
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
    active: Type.Optional(
      Type.Boolean({ description: 'False switches the counter off: its page accepts no payments.' }),
    ),
  },
  { additionalProperties: false },
);

const chatDeliverySchema = Type.Object(
  {
    number: Type.String({ description: 'As it stands in `chat_numbers`.' }),
    status: orNull(Type.String({ description: 'The status of the newest message; null before the first.' })),
    updatedAt: orNull(timeType('When the status was reported.')),
    failure: orNull(Type.String({ description: 'Why it did not arrive.' })),
  },
  { title: 'ChatDelivery' },
);

export const terminalSchema = Type.Object(
  {
    id: idType('The terminal.'),
    name: Type.String(),
    code: Type.String({ description: 'The seven-digit code that payers can type.', examples: ['4718205'] }),
    qr_code_url: Type.String({ description: 'The content of the QR code: the URL of the counter’s page.' }),
    poster_url: Type.String({ description: 'The URL of the printable poster; requires your API key.' }),
    chat_numbers: Type.Array(Type.String(), { description: 'As you sent them.' }),
    chat_delivery: Type.Array(chatDeliverySchema, { description: 'The newest message to each chat number.' }),
    active: Type.Boolean({ description: 'False while the counter is switched off.' }),
    test_mode: Type.Boolean(),
    createdAt: timeType('When it was created.'),
    updatedAt: timeType('When it last changed.'),
  },
  { title: 'VirtualTerminal' },
);
