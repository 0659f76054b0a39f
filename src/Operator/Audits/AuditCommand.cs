using System.CommandLine;
using System.Globalization;
using Billing.Auditing;
using Billing.Auditing.Accounts;
using Billing.Auditing.Exports;
using Billing.Contracts;
using Billing.Operator.Arguments;
using Spectre.Console;

namespace Billing.Operator.Audits;

/// <summary><c>audit</c>: compares clients' journals with the event store, and checks the
/// consistency of the store.</summary>
internal static class AuditCommand
{
    private const string Unknown = "unknown";

    public static Command Create(IAnsiConsole console)
    {
        var postgres = Flags.EventStore();
        var proxies = ListFlags.Addresses("--proxies", "Addresses of proxies whose balances are audited too");
        var ca = Flags.ExistingFile(
            "--ca", "File of the only authorities that are trusted for the proxies' certificates, in PEM");
        var token = Flags.ExistingFile("--token-file", "File of a token for accounts:read of all accounts");
        var openingLimits = new Option<string[]>("--opening-limit")
        {
            Description =
                "Credit limit of accounts without a limit of their own, as Billing:Backend:OpeningLimits of the "
                + "backends states it; once for each currency, or 'unknown'. Those of the stack in the background "
                + "by default",
            HelpName = "CURRENCY=LIMIT",
        };
        openingLimits.Validators.Add(given =>
        {
            if (given.Tokens.Select(token => token.Value).FirstOrDefault(text => !IsLimit(text)) is { } wrong)
            {
                given.AddError(
                    $"--opening-limit must be a currency and a number, zero or more, such as USD=500, or 'unknown', "
                    + $"not '{wrong}'.");
            }
        });
        var complete = new Option<bool>("--complete")
        {
            Description = "The journals hold every payment that was made: report recorded payments that are in none",
        };
        var tolerance = Flags.Number(
            "--clock-tolerance",
            "Milliseconds by which the clocks of the clients' machines may differ; calls this close have no order",
            0, 0, 60_000);
        var who = new Option<string?>("--who")
        {
            Description =
                "Instead of auditing, list who sent the payments and changes of an account, e.g. visa/acct-42",
            HelpName = "ACCOUNT",
        };
        var export = new Option<string?>("--export")
        {
            Description =
                "Folder of an export, whose days are compared with the event store; the folder must have a manifest",
            HelpName = "FOLDER",
        };
        var journals = new Argument<string[]>(
            "journals")
        { Description = "Journals written by clients (--journal)", Arity = ArgumentArity.ZeroOrMore };
        journals.AcceptLegalFilePathsOnly();
        var command = new Command(
            "audit", "Compares clients' journals with the event store, and recomputes every balance from the events.")
        {
            postgres, proxies, ca, token, openingLimits, complete, tolerance, export, who, journals,
        };
        command.Validators.Add(result =>
        {
            var isAudit = result.GetResult(journals) is { Tokens.Count: > 0 } || result.GetResult(export) is not null;
            if (isAudit != result.GetResult(who) is null)
            {
                result.AddError("Name journals to audit, an export with --export, or an account with --who.");
            }
        });
        return command.Does(async (parsed, cancellationToken) =>
        {
            if (parsed.GetValue(who) is { } account)
            {
                return await ListAsync(
                    console, await StackInBackground.DatabasesAsync(parsed.GetValue(postgres)),
                    account, cancellationToken);
            }
            var files = parsed.GetValue(journals) ?? [];
            if (Array.Find(files, f => !File.Exists(f)) is { } missing)
            {
                throw new CommandException($"journals: there is no file '{missing}'.");
            }
            if (parsed.GetValue(export) is { } folder && !File.Exists(Path.Combine(folder, ExportManifest.FileName)))
            {
                throw new CommandException($"--export: there is no {ExportManifest.FileName} in '{folder}'.");
            }
            var databases = await StackInBackground.DatabasesAsync(parsed.GetValue(postgres));
            var auditor = new Auditor([.. databases.Values])
            {
                Proxies = parsed.GetValue(proxies) ?? [],
                ProxiesCaFile = parsed.GetValue(ca),
                Token = parsed.GetValue(token) is { } file
                    ? (await File.ReadAllTextAsync(file, cancellationToken)).Trim()
                    : null,
                OpeningLimits = await OpeningLimitsAsync(
                    parsed.GetValue(openingLimits) ?? [], isOfStack: parsed.GetValue(postgres) is not { Count: > 0 }),
                JournalsAreComplete = parsed.GetValue(complete),
                Export = parsed.GetValue(export) is { } exported ? ExportManifest.Read(exported) : null,
                ClockTolerance = TimeSpan.FromMilliseconds(parsed.GetValue(tolerance)),
            };
            var audit = await AuditBars.ShowAsync(console, progress =>
            {
                auditor.Progress = progress;
                return auditor.RunAsync(files, cancellationToken);
            });
            AuditTable.Print(console, audit);
            return audit.IsClean ? 0 : 1;
        });
    }

    // Lines as they are read, since an account may have millions of events.
    private static async Task<int> ListAsync(
        IAnsiConsole console, IReadOnlyDictionary<string, string> databases,
        string account, CancellationToken cancellationToken)
    {
        if (account.Split('/') is not [var type, var id] || id.Length == 0
            || !FieldRules.TryReadPaymentType(type, out var network))
        {
            throw new CommandException(
                $"--who: '{account}' is no account; name it as visa/acct-42, with {PaymentTypes.Listed}.");
        }
        var count = 0;
        await foreach (var e in AccountHistory.ReadAsync(
            databases.Values, StreamId.For(network, id), cancellationToken: cancellationToken))
        {
            count++;
            console.Profile.Out.Writer.WriteLine(string.Create(CultureInfo.InvariantCulture,
                $"{e.Version,8}  {e.DecidedAt.UtcDateTime:yyyy-MM-dd HH:mm:ss.fff}Z  {e.Kind,-12} "
                    + $"{(e.Currency.Length == 0 ? null : (decimal?)e.Amount),18} {e.Currency,-3}  {e.TransactionId}  "
                    + $"{e.Subject ?? "unknown"}{(e.ClientId is { } client ? $" ({client})" : "")}"));
        }
        console.WriteLine(count == 0 ? $"{account} has no events." : $"{count} events of {account}.");
        return 0;
    }

    private static bool IsLimit(string text) =>
        text == Unknown
        || (text.Split('=') is [var currency, var limit] && Currencies.DecimalsOf(currency) is not null
            && decimal.TryParse(limit, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out _));

    // The last one of a currency counts, as it does with settings.
    private static async Task<IReadOnlyDictionary<string, decimal>?> OpeningLimitsAsync(string[] given, bool isOfStack)
    {
        if (given.Contains(Unknown))
        {
            return null;
        }
        if (given.Length == 0 && isOfStack && await StackInBackground.ReadAsync() is { } stack)
        {
            return stack.OpeningLimits;
        }
        var limits = new Dictionary<string, decimal>();
        foreach (var limit in given.Select(text => text.Split('=')))
        {
            limits[limit[0]] = decimal.Parse(limit[1], CultureInfo.InvariantCulture);
        }
        return limits;
    }
}
