/** What the demo business sells, by what it costs in dalasi. Nobody here exists. */
export interface Ware {
  title: string;
  least: number;
  most: number;
  weight: number;
}

export const wares: readonly Ware[] = [
  { title: 'School books', least: 150, most: 1_400, weight: 12 },
  { title: 'Exercise books', least: 25, most: 250, weight: 16 },
  { title: 'Printing and copies', least: 5, most: 120, weight: 18 },
  { title: 'School bag', least: 350, most: 1_200, weight: 7 },
  { title: 'Storybooks', least: 120, most: 600, weight: 9 },
  { title: 'Pens and pencils', least: 20, most: 180, weight: 14 },
  { title: 'Office paper', least: 280, most: 2_400, weight: 6 },
  { title: 'Calculator', least: 250, most: 900, weight: 4 },
  { title: 'Binding', least: 50, most: 300, weight: 6 },
  { title: 'Uniform', least: 450, most: 1_600, weight: 4 },
  { title: 'Laptop', least: 9_500, most: 24_000, weight: 0.35 },
  { title: 'Printer cartridges', least: 800, most: 3_200, weight: 2 },
];

export const counterNames = ['Front counter', 'Market stall', 'Printing corner'];

export const linkTitles = [
  { title: 'School fees, one term', dalasi: 2_500 },
  { title: 'Exam preparation course', dalasi: 750 },
  { title: 'Donation for the reading room', dalasi: null },
] as const;

export const partnerNames = ['Partner: print shop', 'Partner: bag maker', 'Partner: delivery riders'];

export const groupName = 'Back to school bundle';

export const customersCount = 60;
