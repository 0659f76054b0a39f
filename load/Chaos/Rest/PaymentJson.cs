using System.Globalization;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Nodes;
using Billing.Contracts;
using Billing.V1;

namespace Billing.Chaos.Rest;

/// <summary>Payments in JSON, as programs write them that know no more than the description of the API.</summary>
internal static class PaymentJson
{
    private static readonly JsonSerializerOptions[] Hands =
    [
        new() { WriteIndented = true },
        new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping },
    ];

    /// <summary>The body of a payment. The same payment may be written in another way each time: members in any order,
    /// whole numbers in strings, the payment type in any letters, characters with or without escapes, with or without
    /// members that say nothing.</summary>
    /// <param name="random">Decides.</param>
    public static string Write(MakePaymentRequest payment, Random random)
    {
        var members = AccountOf(payment, random);
        members.Add(new("amount", Write(payment.Amount, random)));
        if (payment.Notes is { } notes)
        {
            members.Add(new("notes", Write(notes)));
        }
        else if (random.Next(4) == 0)
        {
            members.Add(new("notes", null));
        }
        return Write(members, random);
    }

    /// <summary>The body of a look-up of a payment.</summary>
    /// <param name="random">Decides how it is written.</param>
    public static string LookUp(MakePaymentRequest payment, Random random) => Write(AccountOf(payment, random), random);

    private static List<KeyValuePair<string, JsonNode?>> AccountOf(MakePaymentRequest payment, Random random)
    {
        var type = PaymentTypes.NameOf(payment.PaymentType);
        return
        [
            new("account_id", payment.AccountId),
            new("payment_type", random.Next(2) == 0 ? type : type.ToUpperInvariant()),
        ];
    }

    private static JsonObject Write(Money amount, Random random)
    {
        var money = new JsonObject
        {
            ["currency_code"] = amount.CurrencyCode,
            ["units"] = random.Next(2) == 0 ? amount.Units : amount.Units.ToString(CultureInfo.InvariantCulture),
        };
        if (amount.Nanos != 0 || random.Next(2) == 0)
        {
            money["nanos"] = amount.Nanos;
        }
        return money;
    }

    private static JsonObject Write(PaymentNotes notes) => new()
    {
        ["reference"] = notes.Reference,
        ["metadata"] = new JsonObject(
            notes.Metadata.Select(pair => KeyValuePair.Create<string, JsonNode?>(pair.Key, pair.Value))),
    };

    private static string Write(List<KeyValuePair<string, JsonNode?>> members, Random random)
    {
        var written = members.ToArray();
        random.Shuffle(written);
        return new JsonObject(written).ToJsonString(Hands[random.Next(Hands.Length)]);
    }
}
