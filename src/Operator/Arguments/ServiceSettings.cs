namespace Billing.Operator.Arguments;

/// <summary>The settings of a service, where a command takes those that no option names.</summary>
internal static class ServiceSettings
{
    /// <summary>Reads appsettings.json in the working folder, then the environment.</summary>
    public static IConfiguration Read() => new ConfigurationBuilder()
        .SetBasePath(Environment.CurrentDirectory)
        .AddJsonFile("appsettings.json", optional: true)
        .AddEnvironmentVariables()
        .Build();
}
