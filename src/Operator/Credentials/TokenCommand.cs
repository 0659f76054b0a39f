using System.CommandLine;
using System.Security.Cryptography;
using Billing.Messaging.Requests;
using Billing.Operator.Arguments;
using Billing.Proxy.Security;

namespace Billing.Operator.Credentials;

/// <summary><c>./billing token</c>: issues a token for the stack in the background, or for a deployment.</summary>
internal static class TokenCommand
{
    public static Command Create()
    {
        var scopes = new Option<string[]>("--scope")
        {
            Description = "Scope of the token; may be given more than once",
            HelpName = string.Join('|', Scopes.All),
            Required = true,
        };
        scopes.AcceptOnlyFromAmong([.. Scopes.All]);
        var accounts = new Option<string[]>("--account")
        {
            Description =
                "Account that the token gives access to; * on either side stands for all; may be given more than once",
            HelpName = "NETWORK/ID",
            Required = true,
        };
        accounts.Validators.Add(given =>
        {
            foreach (var wrong in given.Tokens.Where(token => !AccountGrants.IsValid(token.Value)))
            {
                given.AddError($"--account must be {AccountGrants.Form}; it is {wrong.Value}");
            }
        });
        var subject = new Option<string>("--subject")
        {
            Description = "Subject of the token",
            HelpName = "NAME",
            DefaultValueFactory = _ => "developer",
        };
        var folder = Flags.Text(
            "--credentials",
            "Folder that ./billing credentials has filled; that of the stack in the background by default", "FOLDER");
        var key = Flags.Text(
            "--key", "File of the key that signs tokens (tokens/key of deploy/terraform/secrets.sh), in PEM", "FILE");
        var minutes = Flags.Number("--minutes", "Lifetime of the token, in minutes", 60, 1, 30 * 24 * 60);
        var command = new Command(
            "token", "Issues a token for the stack that ./billing up --tls has started, or for a deployment.")
        {
            scopes, accounts, subject, minutes, folder, key,
        };
        command.Validators.Add(result =>
        {
            if (result.GetValue(folder) is not null && result.GetValue(key) is not null)
            {
                result.AddError("Give either --credentials or --key.");
            }
        });
        return command.Does(async (parsed, _) =>
        {
            using var issuer = await IssuerAsync(parsed.GetValue(key), parsed.GetValue(folder));
            // Written without console formatting, because scripts store it in a variable.
            await Console.Out.WriteLineAsync(issuer.Issue(
                parsed.GetRequiredValue(subject), parsed.GetRequiredValue(scopes), parsed.GetRequiredValue(accounts),
                TimeSpan.FromMinutes(parsed.GetValue(minutes))));
            return 0;
        });
    }

    private static async Task<TokenIssuer> IssuerAsync(string? key, string? folder)
    {
        if (key is null)
        {
            return DeploymentCredentials.Find(folder ?? StackInBackground.Credentials)?.Issuer(TimeProvider.System)
                ?? throw new CommandException(folder is null
                    ? "There is no stack that requires tokens; `./billing up --tls` starts one."
                    : $"--credentials: {folder} has no key for tokens; `./billing credentials --folder "
                        + $"{folder}` makes one.");
        }
        try
        {
            return TokenIssuer.Of(await File.ReadAllTextAsync(key), TimeProvider.System);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or ArgumentException
            or CryptographicException)
        {
            throw new CommandException($"--key: '{key}' is no key for tokens: {e.Message}", e);
        }
    }
}
